// The sources of the other tokens of a client.
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import type { ServiceAuth, TokenOptions, TokenSource } from '../src/index.ts';
import { clientSecretPost } from '../src/oauth2/index.ts';
import { createBed, failure, minute, second } from './support/bed.ts';
import { secretCanary } from './support/canaries.ts';
import { fails } from './support/faulty-store.ts';
import { settled } from './support/manual-clock.ts';
import { answering, gated, silent } from './support/scripted-endpoint.ts';

const bodyOf = ({ body }: { readonly body: string } = { body: '{}' }) => JSON.parse(body) as Record<string, unknown>;

describe('for()', () => {
  test('gives the source of another token, with the record, the secret and the limit of the client', async () => {
    const { client, clock, endpoint, store, token } = createBed();
    const clientSecret = vi.fn(async () => secretCanary);
    const auth = client({ clientSecret });
    const billing = auth.for({ audience: 'billing' });
    const own = await token(auth);
    const other = await clock.until(billing.getToken());
    expect(other.id).not.toBe(own.id);
    expect(billing.peekToken()).toBe(other);
    expect(auth.peekToken()).toBe(own);
    expect(endpoint.requests.map((request) => bodyOf(request)['audience'])).toEqual(['orders', 'billing']);
    expect(bodyOf(endpoint.requests[1])['client_secret']).toBe(secretCanary);
    expect(clientSecret).toHaveBeenCalledTimes(2);
    const usage = await auth.getUsage();
    expect(usage).toMatchObject({ used: 2 });
    expect(usage.tokens.map(({ audience }) => audience)).toEqual(['orders', 'billing']);
    expect(usage.issuances.map(({ audience }) => audience).toSorted()).toEqual(['billing', 'orders']);
    expect(await store.text()).toContain('billing');
  });

  test('a client for that token, in another process, uses the same one', async () => {
    const { client, clock, endpoint, token } = createBed();
    const billing = client().for({ audience: 'billing' });
    const other = await clock.until(billing.getToken());
    expect((await token(client({ audience: 'billing' }))).id).toBe(other.id);
    expect(endpoint.requests.length).toBe(1);
  });

  test('calls at the same moment share one attempt, wherever the source was asked for', async () => {
    const { client, clock, endpoint } = createBed();
    const auth = client();
    const sources = Array.from({ length: 20 }, () => auth.for({ audience: 'billing' }));
    const tokens = await clock.until(Promise.all(sources.map((source) => source.getToken())));
    expect(new Set(tokens).size).toBe(1);
    expect(endpoint.requests.length).toBe(1);
  });

  test('gives the same source for the same token and address', () => {
    const { client } = createBed();
    const auth = client({ scope: 'read', parameters: { tenant: 'a' } });
    const source = auth.for({ audience: 'billing', scope: 'read write' });
    expect(auth.for({ audience: 'billing', scope: ['write', 'read'], parameters: undefined })).toBe(source);
    expect(auth.for({ audience: 'billing', scope: 'read write', parameters: { tenant: 'a' } })).toBe(source);
    expect(auth.for({ audience: 'billing', scope: 'read write', baseUrl: 'https://api.example.com' })).toBe(source);
    expect(auth.for({ audience: 'billing' })).not.toBe(source);
    expect(auth.for({ audience: 'billing', scope: 'read write', parameters: { tenant: 'b' } })).not.toBe(source);
    expect(auth.for({ audience: 'billing', scope: 'read write', resource: 'https://a.example/' })).not.toBe(source);
    expect(client().for({ audience: 'billing' })).not.toBe(source);
  });

  test('gives the client itself for its own token', () => {
    const { client } = createBed();
    const auth = client();
    expect(auth.for({})).toBe(auth);
    expect(auth.for({ audience: 'orders', baseUrl: 'https://api.example.com' })).toBe(auth);
  });

  test('another address for the same token has the same memory', async () => {
    const { client, clock, endpoint } = createBed();
    const auth = client();
    const elsewhere = auth.for({ baseUrl: 'https://other.example.com/v1' });
    const token = await clock.until(elsewhere.getToken());
    expect(auth.peekToken()).toBe(token);
    const first = auth.for({ audience: 'billing', baseUrl: 'https://a.example.com' });
    const other = auth.for({ audience: 'billing', baseUrl: 'https://b.example.com' });
    expect(first).not.toBe(other);
    const billing = await clock.until(first.getToken());
    expect(other.peekToken()).toBe(billing);
    expect(endpoint.requests.length).toBe(2);
  });

  test('what is left out is as the client has it', async () => {
    const { client, clock, endpoint } = createBed();
    const resource = ['https://a.example/', 'https://b.example/'];
    const auth = client({ scope: 'read', resource, parameters: { tenant: 'a', version: '2' } });
    await clock.until(auth.for({ audience: 'billing' }).getToken());
    await clock.until(auth.for({ scope: ['read', 'write'], parameters: { version: '3' } }).getToken());
    const known = { grant_type: 'client_credentials', client_id: 'client-1', client_secret: secretCanary };
    expect(endpoint.requests.map(bodyOf)).toEqual([
      { ...known, audience: 'billing', scope: 'read', resource, tenant: 'a', version: '2' },
      { ...known, audience: 'orders', scope: 'read write', resource, version: '3' },
    ]);
  });

  test('is a form at another server, with the query of its token endpoint', async () => {
    const tokenEndpoint = 'https://auth.example.com/tenant/token?version=2';
    const { client, clock, endpoint, eventsOf } = createBed();
    const auth = client({
      ...{ authUrl: undefined, audience: undefined, tokenEndpoint, clientAuthentication: clientSecretPost() },
    });
    await clock.until(auth.for({ scope: 'https://graph.example/.default' }).getToken());
    expect(endpoint.requests[0]?.url).toBe(tokenEndpoint);
    expect(new URLSearchParams(endpoint.requests[0]?.body).get('scope')).toBe('https://graph.example/.default');
    expect(eventsOf('token_issued').map(({ audience }) => audience)).toEqual([
      '?version=2 scope=https://graph.example/.default',
    ]);
  });

  test('its token goes to its own address, by default to that of the client', () => {
    const { client } = createBed();
    const auth = client();
    const [same, other] = [
      auth.for({ audience: 'billing' }),
      auth.for({ audience: 'billing', baseUrl: new URL('https://billing.example.com/v1/') }),
    ];
    expect([same.baseUrl, other.baseUrl]).toEqual(['https://api.example.com/', 'https://billing.example.com/v1/']);
    const urls = ['https://api.example.com/x', 'https://billing.example.com/v1/x', 'https://billing.example.com/x'];
    expect(urls.map((url) => same.covers(url))).toEqual([true, false, false]);
    expect(urls.map((url) => other.covers(url))).toEqual([false, true, false]);
    expect(auth.for({ baseUrl: 'https://auth.example.com' }).covers('https://auth.example.com/oauth/token')).toBe(
      false,
    );
  });

  test('http: is allowed for its address as it is for the client', async () => {
    const { client } = createBed();
    const baseUrl = 'http://billing.internal';
    expect(client({ allowInsecureHttp: true }).for({ baseUrl }).baseUrl).toBe('http://billing.internal/');
    const { problems } = await failure('ERR_CONFIG', () => client().for({ baseUrl }));
    expect(problems.map(({ option }) => option)).toEqual(['baseUrl']);
  });

  test('refuses what a client would refuse, all of it at once and without its values', async () => {
    const { client } = createBed();
    const auth = client();
    const wrong = {
      ...{ audience: '', scope: 'a  b', resource: 'relative', parameters: { client_secret: 'x' } },
      ...{ baseUrl: 'ftp://api.example.com', clientId: 'another' },
    };
    const { problems } = await failure('ERR_CONFIG', () => auth.for(wrong as never));
    const { clientId, ...rest } = wrong;
    const same = await failure('ERR_CONFIG', () => client(rest as never));
    expect(problems).toEqual(expect.arrayContaining([{ option: 'clientId', message: 'is not an option' }]));
    const sorted = (list: readonly object[]) => list.map((each) => JSON.stringify(each)).toSorted();
    expect(sorted(problems.filter(({ option }) => option !== 'clientId'))).toEqual(sorted(same.problems));
    await failure('ERR_CONFIG', () => auth.for({ audience: 'x'.repeat(513) }));
  });

  test.each([undefined, null, 'billing', 7])('refuses %s in the place of an object', async (options) => {
    const { client } = createBed();
    const { problems } = await failure('ERR_CONFIG', () => client().for(options as never));
    expect(problems).toEqual([{ option: 'options', message: 'must be an object such as { audience }' }]);
  });

  test('its methods work without it, and show nothing that is not public', async () => {
    const { client, clock } = createBed();
    const source = client().for({ audience: 'billing' });
    const { getToken, peekToken, invalidate } = source;
    const token = await clock.until(getToken());
    expect(peekToken()).toBe(token);
    await invalidate(token);
    expect((await clock.until(getToken())).id).not.toBe(token.id);
    expect(Object.keys(source).toSorted()).toEqual(
      ['baseUrl', 'covers', 'getToken', 'invalidate', 'peekToken', 'reportAccepted', 'reportBypass'].toSorted(),
    );
  });
});

test('its types know the options of a token alone', () => {
  expectTypeOf<Parameters<ServiceAuth['for']>>().toEqualTypeOf<[TokenOptions]>();
  expectTypeOf<ReturnType<ServiceAuth['for']>>().toEqualTypeOf<TokenSource>();
  expectTypeOf<keyof TokenOptions>().toEqualTypeOf<'audience' | 'scope' | 'resource' | 'parameters' | 'baseUrl'>();
  expectTypeOf<{ audience: undefined }>().toExtend<TokenOptions>();
  expectTypeOf<{ audience: string[] }>().not.toExtend<TokenOptions>();
});

describe('the events of a source', () => {
  test('name its token, and go to the listeners of the client', async () => {
    const { client, clock, events } = createBed();
    const auth = client({ instance: 'worker 1' });
    const subscribed = vi.fn();
    const end = auth.subscribe(subscribed, { operations: true });
    await clock.until(auth.for({ audience: 'billing' }).getToken());
    const issued = events.filter(({ type }) => type === 'token_issued');
    expect(issued.map(({ audience, instance }) => `${audience} by ${instance}`)).toEqual(['billing by worker 1']);
    const heard = subscribed.mock.calls.map(([{ type, audience }]) => `${type} ${audience}`);
    expect(heard).toEqual(
      expect.arrayContaining(['acquisition_started billing', 'store_called billing', 'token_issued billing']),
    );
    end();
    const count = subscribed.mock.calls.length;
    await clock.until(auth.for({ audience: 'stock' }).getToken());
    expect(subscribed).toHaveBeenCalledTimes(count);
  });

  test('have the random name of the process that those of the client have', async () => {
    const { client, clock, events, token } = createBed();
    const auth = client({ instance: undefined });
    await clock.until(auth.for({ audience: 'billing' }).getToken());
    await token(auth);
    expect(new Set(events.map(({ instance }) => instance)).size).toBe(1);
  });

  test('say that a request to its address was sent without the token', () => {
    const { client, eventsOf } = createBed();
    const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const source = client().for({ audience: 'billing', baseUrl: 'https://billing.example.com' });
    source.reportBypass?.();
    expect(eventsOf('token_bypassed').map(({ audience }) => audience)).toEqual(['billing']);
    expect(warning.mock.calls[0]?.[0]).toContain('A request to https://billing.example.com/ had');
    warning.mockRestore();
  });
});

describe('what happens to one token', () => {
  test('a 401 to it replaces it alone', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const billing = auth.for({ audience: 'billing' });
    const [own, other] = [await token(auth), await clock.until(billing.getToken())];
    await billing.invalidate(other);
    expect((await clock.until(billing.getToken())).id).not.toBe(other.id);
    expect(await token(auth)).toBe(own);
    expect(endpoint.requests.length).toBe(3);
  });

  test('reset() of the client resets its own token alone', async () => {
    const { client, clock, token } = createBed();
    const auth = client();
    const billing = auth.for({ audience: 'billing' });
    const [own, other] = [await token(auth), await clock.until(billing.getToken())];
    expect(await clock.until(auth.reset())).toMatchObject({ tokenId: own.id });
    expect(auth.peekToken()).toBeUndefined();
    expect(billing.peekToken()).toBe(other);
  });

  test('a refused audience does not hold up the others, and retryNow() is for all of them', async () => {
    const { client, clock, endpoint, token } = createBed();
    const auth = client();
    const billing = auth.for({ audience: 'billing' });
    endpoint.next(answering(403, JSON.stringify({ error: 'access_denied' })));
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(billing.getToken()));
    await token(auth);
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(billing.getToken()));
    expect((await clock.until(auth.retryNow())).ended.map(({ audience }) => audience)).toEqual(['billing']);
    expect((await clock.until(billing.getToken())).id).toBe(billing.peekToken()?.id);
  });

  test('retryNow() ends the wait of a source for a replacement of its rejected token', async () => {
    const { client, clock, endpoint } = createBed();
    const auth = client();
    const billing = auth.for({ audience: 'billing' });
    const rejected = async () => {
      const token = await clock.until(billing.getToken());
      await billing.invalidate(token);
      return token;
    };
    for (let count = 0; count < 2; count += 1) await rejected();
    const kept = await rejected();
    expect((await clock.until(billing.getToken())).id).toBe(kept.id);
    const sent = endpoint.requests.length;
    await clock.until(auth.retryNow());
    await billing.invalidate(kept);
    expect((await clock.until(billing.getToken())).id).not.toBe(kept.id);
    expect(endpoint.requests.length).toBe(sent + 1);
  });

  test('while the store fails, each token in memory is served', async () => {
    const { client, clock, store, token } = createBed();
    const auth = client();
    const billing = auth.for({ audience: 'billing' });
    const [own, other] = [await token(auth), await clock.until(billing.getToken())];
    store.always('both', fails);
    await clock.advance(5 * minute);
    expect((await token(auth)).id).toBe(own.id);
    expect((await clock.until(billing.getToken())).id).toBe(other.id);
  });
});

describe('close() of the client', () => {
  test('ends its sources, those too that are asked for afterwards', async () => {
    const { client, clock } = createBed();
    const auth = client();
    const billing = auth.for({ audience: 'billing' });
    await clock.until(billing.getToken());
    await auth.close();
    expect(billing.peekToken()).toBeUndefined();
    await failure('ERR_CLOSED', billing.getToken());
    await failure('ERR_CLOSED', auth.for({ audience: 'billing' }).getToken());
    await failure('ERR_CLOSED', auth.for({ audience: 'stock' }).getToken());
    expect(clock.timers.all).toBe(0);
  });

  test('ends the waits at its sources, and gives their requests the time to be recorded', async () => {
    const { client, endpoint } = createBed();
    const { answer, release } = gated(endpoint.issue);
    endpoint.next(answer);
    const auth = client();
    const waiting = failure('ERR_CLOSED', auth.for({ audience: 'billing' }).getToken());
    await settled();
    const closing = auth.close();
    await waiting;
    release();
    await closing;
    expect(await client().getUsage()).toMatchObject({ used: 1, pending: 0 });
  });

  test('aborts the requests of its sources after two seconds', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(silent);
    const auth = client();
    const waiting = failure('ERR_CLOSED', auth.for({ audience: 'billing' }).getToken());
    await settled();
    const closing = auth.close();
    await waiting;
    await clock.advance(2 * second);
    await closing;
    expect(endpoint.requests[0]?.signal.aborted).toBe(true);
  });
});
