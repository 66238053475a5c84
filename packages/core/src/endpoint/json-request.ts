import type { ClientAuthentication } from '../contract/client-authentication.ts';
import { problemOfText } from '../contract/config-problems.ts';
import { ownProperties } from '../platform/untrusted.ts';

const headers = { 'content-type': 'application/json' };

/** Sends JSON with the client secret in it (the service's interface, token request body). */
export const jsonAuthentication: ClientAuthentication = {
  usesSecret: true,
  probe: { headers, body: '{}' },
  problems({ scope = [], resource = [], parameters }) {
    const named = Object.entries(Object(parameters));
    const values = [scope, resource, named.map(([, value]) => value)].flat(2);
    const isSound = JSON.stringify(values).length < 12_000 && values.every((value) => !problemOfText(value, 4_096));
    return isSound && !named.some(([name]) => /\n|grant|client|secret|scope|audience|resource/i.test(name))
      ? []
      : [{ option: 'parameters', message: 'must be texts, also scope and resource, without secrets' }];
  },
  write({ parameters, clientId, clientSecret = '' }) {
    // A `toJSON` of a polluted `Object.prototype` could read or replace the body, so it has no prototype.
    const body: Record<string, string | string[]> = ownProperties({});
    for (const [name, value] of [...parameters, ['client_id', clientId], ['client_secret', clientSecret]] as const)
      body[name] = name in body ? [body[name] ?? [], value].flat() : value;
    return { headers, body: JSON.stringify(body) };
  },
};
