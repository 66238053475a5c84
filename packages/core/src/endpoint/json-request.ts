import type { ClientAuthentication } from '../contract/client-authentication.ts';
import { ownProperties } from '../platform/untrusted.ts';

const headers = { 'content-type': 'application/json' };

/** Sends JSON with the client secret in it (the service's interface, token request body). */
export const jsonAuthentication: ClientAuthentication = {
  usesSecret: true,
  problems: () => [],
  write({ parameters, clientId, clientSecret = '' }) {
    // A `toJSON` of a polluted `Object.prototype` could read or replace the body, so it has no
    // prototype.
    const body: Record<string, string | string[]> = ownProperties({});
    for (const [name, value] of [...parameters, ['client_id', clientId], ['client_secret', clientSecret]] as const)
      body[name] = name in body ? [body[name] ?? [], value].flat() : value;
    return { headers, body: JSON.stringify(body) };
  },
};
