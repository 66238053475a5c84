// Node, Bun and Deno run this program with a proxy in their environment. Its argument is a JSON list of token endpoints on loopback.
import { createServiceAuth, isServiceAuthError, memoryStore } from '@service-auth/core';

/** The answers to a program with a proxy in its environment: `plain` to its own fetch, `token` to core. */
export interface Connected {
  readonly authUrl: string;
  readonly plain: string;
  readonly token: string;
  readonly used: number;
}

const { process } = globalThis as unknown as { process: { argv: string[]; exit(): void } };

async function main(): Promise<void> {
  const connected: Connected[] = [];
  for (const authUrl of JSON.parse(process.argv[2] ?? '[]') as string[]) {
    const plain = await fetch(`${authUrl}/plain`, { method: 'POST', body: 'plain' });
    const clientSecret = 'CANARY-secret';
    const auth = createServiceAuth({ authUrl, audience: 'a', clientId: 'c', clientSecret, store: memoryStore() });
    const token = await auth.getToken().then(
      ({ value }) => value,
      (error) => (isServiceAuthError(error) ? `${error.code} ${error.message}` : String(error)),
    );
    const { used } = await auth.getUsage();
    connected.push({ authUrl, plain: await plain.text(), token, used });
  }
  console.log(JSON.stringify(connected));
}

void main();
