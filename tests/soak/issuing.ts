import type { Transport } from '@service-auth/core';

/** A token endpoint in this process, whose tokens are all different and equally long. */
export interface Issuing {
  readonly transport: Transport;
  issued(): number;
  /** Until then it answers nobody. */
  gate: Promise<void>;
}

export const tokenLength = 754;

export function createIssuing(): Issuing {
  let issued = 0;
  const issuing: Issuing = {
    issued: () => issued,
    gate: Promise.resolve(),
    async transport() {
      issued += 1;
      // A text of one piece, as a token that was read from a socket is.
      const access_token = Buffer.from(`${issued}`.padStart(tokenLength, 'x')).toString('latin1');
      const body = JSON.stringify({ access_token, token_type: 'Bearer', expires_in: 86_400 });
      await issuing.gate;
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
  };
  return issuing;
}

/** The options that all clients have. */
export const common = {
  authUrl: 'https://auth.example.com',
  baseUrl: 'https://api.example.com',
  audience: 'https://api.example.com/',
  clientId: 'a client',
  clientSecret: 'a secret',
} as const;
