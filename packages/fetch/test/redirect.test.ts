import { createAuth, startForeign, startService } from '@service-auth/test-support/service';
import type { TestService } from '@service-auth/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAuthFetch } from '../src/index.ts';

/** The result of fetch itself or of ours: the answer, or the kind of error. */
async function outcomeOf(response: Promise<Response>): Promise<unknown> {
  try {
    const { status, url, redirected } = await response;
    return { status, path: new URL(url).pathname, redirected };
  } catch (error) {
    return (error as Error).name;
  }
}

/** An API that requires no token, so that fetch itself can be compared. */
function redirectAll(service: TestService, status: number, target: string): void {
  service.api.always(({ path }) =>
    path.startsWith('/api/v1/from') ? { status, headers: { location: target } } : { status: 200 },
  );
}

const streamOf = (text: string) => new Blob([text]).stream();
const requests: [name: string, init: () => RequestInit & { duplex?: 'half' }][] = [
  ['GET', () => ({})],
  ['GET with a cookie', () => ({ headers: { cookie: 'a=b', 'x-cookie': 'c' } })],
  ['HEAD', () => ({ method: 'HEAD' })],
  ['POST without a body', () => ({ method: 'POST' })],
  ['POST of a string', () => ({ method: 'POST', body: 'text', headers: { 'content-type': 'text/x', 'x-one': '1' } })],
  ['post of parameters', () => ({ method: 'post', body: new URLSearchParams({ a: 'b' }) })],
  ['PUT of bytes', () => ({ method: 'PUT', body: new Uint8Array([1, 2]), headers: [['Content-Language', 'de']] })],
  ['POST of a stream', () => ({ method: 'POST', body: streamOf('text'), duplex: 'half' })],
  ['PUT of a stream', () => ({ method: 'PUT', body: streamOf('text'), duplex: 'half' })],
];

describe('redirects are followed as fetch does', () => {
  const statuses = [300, 301, 302, 303, 304, 307, 308];
  const cases = requests.flatMap(([name, init]) => statuses.map((status) => ({ name, init, status })));

  test.each(cases)('$name, answered $status', async ({ init, status }) => {
    const service = await startService();
    const auth = createAuth(service);
    redirectAll(service, status, 'to?x=1#fragment');
    const url = `${service.baseUrl}/api/v1/from`;
    const expected = await outcomeOf(fetch(url, init()));
    const count = service.apiRequests.length;
    expect(await outcomeOf(createAuthFetch(auth)(url, init()))).toEqual(expected);
    const facts = service.apiRequests.map(({ method, path, headers, body }) => ({ method, path, headers, body }));
    expect(facts.slice(count)).toEqual(facts.slice(0, count));
    const bearers = service.apiRequests.map(({ bearer }) => bearer);
    expect(new Set(bearers.slice(count))).toEqual(new Set(['valid']));
  });

  test('and the answer and its clones say so', async () => {
    const service = await startService();
    redirectAll(service, 302, '/api/v1/to');
    const url = `${service.baseUrl}/api/v1/from`;
    const authFetch = createAuthFetch(createAuth(service));
    for (const send of [fetch, authFetch]) {
      const response = await send(url);
      const clone = response.clone();
      const facts = { redirected: true, url: `${service.baseUrl}/api/v1/to` };
      expect([response, clone, clone.clone()]).toMatchObject([facts, facts, facts]);
      expect(await clone.text()).toBe(await response.text());
    }
    expect((await authFetch(`${service.baseUrl}/api/v1/to`)).clone().redirected).toBe(false);
  });

  test('to an address that is not ASCII', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    redirectAll(service, 302, '/api/v1/Grüße');
    const { url } = await fetch(`${service.baseUrl}/api/v1/from`);
    expect(await authFetch(`${service.baseUrl}/api/v1/from`)).toMatchObject({ status: 200, url });
    expect(decodeURI(url)).toBe(`${service.baseUrl}/api/v1/Grüße`);
  });

  test("to elsewhere with mode 'same-origin', which fails", async () => {
    const service = await startService();
    const foreign = await startForeign();
    const authFetch = createAuthFetch(createAuth(service));
    redirectAll(service, 307, foreign.url);
    const url = `${service.baseUrl}/api/v1/from`;
    const init = { method: 'POST', body: 'text', mode: 'same-origin' } as const;
    await expect(fetch(url, init)).rejects.toThrow(TypeError);
    await expect(authFetch(url, init)).rejects.toThrow(TypeError);
    expect(foreign.requests).toEqual([]);
  });

  test('to something of which the integrity is known', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    service.api.always(({ path }) =>
      path.endsWith('/from') ? { status: 302, headers: { location: 'to' } } : { body: 'text' },
    );
    const url = `${service.baseUrl}/api/v1/from`;
    const response = await authFetch(url, { integrity: 'sha256-mC2ePrmW9VnmM/TRlN7zdh2Qn1o7ZH0ahR/q1nwyydE=' });
    expect(await response.text()).toBe('text');
    await expect(authFetch(url, { integrity: `sha256-${'A'.repeat(43)}=` })).rejects.toThrow(TypeError);
  });

  test('twenty of them, and no more', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    service.api.always(({ path }) => {
      const left = Number(new URL(path, service.url).searchParams.get('left'));
      return left > 0 ? { status: 302, headers: { location: `?left=${left - 1}` } } : undefined;
    });
    const url = `${service.baseUrl}/api/v1/`;
    expect((await authFetch(`${url}?left=20`)).status).toBe(200);
    await expect(fetch(`${url}?left=21`)).rejects.toThrow(TypeError);
    await expect(authFetch(`${url}?left=21`)).rejects.toThrow(new TypeError('There were more than 20 redirects'));
  });

  test.each([
    'data:text/plain,x',
    'file:///etc/hostname',
    'ftp://127.0.0.1/',
    'http://',
    'http://user:password@{api}/',
  ])('not to %s', async (target) => {
    const service = await startService();
    redirectAll(service, 302, target.replace('{api}', new URL(service.url).host));
    await expect(createAuthFetch(createAuth(service))(`${service.baseUrl}/api/v1/from`)).rejects.toThrow(TypeError);
    expect(service.counts.apiRequests).toBe(1);
  });

  test.each(['follow', 'manual', 'error'] as const)('redirect: %s is the caller’s choice', async (redirect) => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    redirectAll(service, 302, '/api/v1/to');
    const url = `${service.baseUrl}/api/v1/from`;
    const expected = await outcomeOf(fetch(url, { redirect }));
    expect(await outcomeOf(authFetch(url, { redirect }))).toEqual(expected);
    expect(await outcomeOf(authFetch(new Request(url, { redirect })))).toEqual(expected);
    expect(await outcomeOf(authFetch(new Request(url), { redirect }))).toEqual(expected);
  });

  test('a foreign host gets the headers that fetch would send there', async () => {
    const service = await startService();
    const foreign = await startForeign();
    const authFetch = createAuthFetch(createAuth(service));
    redirectAll(service, 307, `${foreign.url}/on`);
    const url = `${service.baseUrl}/api/v1/from`;
    const init = { method: 'POST', body: 'text', headers: { Cookie: 'a=b', 'Proxy-Authorization': 'c', 'X-One': '1' } };
    const response = await authFetch(url, init);
    expect(response).toMatchObject({ status: 200, redirected: true, url: `${foreign.url}/on` });
    await fetch(url, init);
    const [ours, theirs] = foreign.requests.map(({ rawHeaders }) => rawHeaders.map((text) => text.toLowerCase()));
    expect(new Set(ours)).toEqual(new Set(theirs));
    expect(ours).toContain('x-one');
    expect(ours).not.toContain('cookie');
  });
});

describe('the token', () => {
  afterEach(() => vi.unstubAllGlobals());

  test.each(['a string', 'a Request'])('does not leave the path of baseUrl along a redirect of %s', async (kind) => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/items` }));
    service.api.next({ status: 302, headers: { location: '/api/v1/items/2' } });
    service.api.next({ status: 302, headers: { location: '/api/v1/others' } });
    const url = `${service.baseUrl}/api/v1/items/1`;
    const response = await authFetch(kind === 'a string' ? url : new Request(url, { headers: { 'x-one': '1' } }));
    expect(response).toMatchObject({ status: 401, redirected: true, url: `${service.baseUrl}/api/v1/others` });
    const received = service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`);
    expect(received).toEqual(['/api/v1/items/1 valid', '/api/v1/items/2 valid', '/api/v1/others none']);
    expect(service.counts.issued).toBe(1);
  });

  test('is not left to fetch with a stream in a worker, whose fetch may take it to another origin', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const service = await startService();
    const foreign = await startForeign();
    redirectAll(service, 303, foreign.url);
    const modes: unknown[] = [];
    const send = (input: string | URL | Request, init?: RequestInit) => {
      modes.push(init?.redirect);
      return fetch(input, init);
    };
    const url = `${service.baseUrl}/api/v1/from`;
    const authFetch = createAuthFetch(createAuth(service), { fetch: send });
    const response = await authFetch(new Request(url, { method: 'POST', body: 'text' }));
    expect(response).toMatchObject({ status: 200, redirected: true });
    expect(modes[0]).toBe('manual');
    expect(foreign.received).not.toMatch(/authorization/i);
  });

  test('stays under its path with a Request whose body is rewritten, and one that cannot be is refused', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/items` }));
    const post = () => new Request(`${service.baseUrl}/api/v1/items/1`, { method: 'POST', body: 'text' });
    service.api.next({ status: 303, headers: { location: '/api/v1/items/2' } });
    expect((await authFetch(post())).status).toBe(200);
    service.api.next({ status: 307, headers: { location: '/api/v1/items/2' } });
    await expect(authFetch(post())).rejects.toThrow(
      new TypeError('Cannot follow the redirect: the request body can be sent only once'),
    );
    const received = service.apiRequests.map(({ method, body, bearer }) => `${method} ${body.text} ${bearer}`);
    expect(received).toEqual(['POST text valid', 'GET  valid', 'POST text valid']);
  });

  test('keeps its signal along the way of a Request', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service, { baseUrl: `${service.baseUrl}/api/v1/items` }));
    const controller = new AbortController();
    service.api.next({ status: 302, headers: { location: '/api/v1/items/2' } });
    const paused = service.api.pauseNext();
    const response = authFetch(new Request(`${service.baseUrl}/api/v1/items/1`, { signal: controller.signal }));
    await paused.arrived;
    controller.abort(new Error('changed my mind'));
    await expect(response).rejects.toThrow('changed my mind');
    paused.resume();
  });

  test('stays with a Request that fetch redirects within the API, body and all', async () => {
    const service = await startService();
    const authFetch = createAuthFetch(createAuth(service));
    redirectAll(service, 307, '/api/v1/to');
    const request = new Request(`${service.baseUrl}/api/v1/from`, { method: 'POST', body: 'text' });
    expect(await authFetch(request)).toMatchObject({ status: 200, redirected: true });
    const received = service.apiRequests.map(({ method, body, bearer }) => `${method} ${body.text} ${bearer}`);
    expect(received).toEqual(['POST text valid', 'POST text valid']);
  });

  test('that was rejected after a redirect is replaced, also for a Request', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const authFetch = createAuthFetch(auth);
    await auth.getToken();
    service.revoke('all');
    service.api.always(({ path }) =>
      path === '/api/v1/from' ? { status: 302, headers: { location: '/api/v1/to' } } : undefined,
    );
    const url = `${service.baseUrl}/api/v1/from`;
    expect((await authFetch(new Request(url))).status).toBe(200);
    expect(service.counts.issued).toBe(2);
  });

  test('is not blamed for a 401 at the end of a way that fetch went alone, with a body that it alone has', async () => {
    const service = await startService();
    const foreign = await startForeign();
    const auth = createAuth(service);
    service.api.next({ status: 307, headers: { location: foreign.url } });
    foreign.answers.next({ status: 307, headers: { location: `${service.baseUrl}/api/v1/back` } });
    const request = new Request(`${service.baseUrl}/api/v1/from`, { method: 'POST', body: 'text' });
    expect((await createAuthFetch(auth)(request)).status).toBe(401);
    expect(service.apiRequests.map(({ path, bearer }) => `${path} ${bearer}`)).toEqual([
      '/api/v1/from valid',
      '/api/v1/back none',
    ]);
    expect(auth.events.map(({ type }) => type)).toEqual(['token_issued']);
  });

  test('a foreign 401 at the end of a Request does not reject it', async () => {
    const service = await startService();
    const foreign = await startForeign();
    const auth = createAuth(service);
    foreign.answers.always({ status: 401 });
    redirectAll(service, 302, foreign.url);
    expect((await createAuthFetch(auth)(new Request(`${service.baseUrl}/api/v1/from`))).status).toBe(401);
    expect(foreign.received).not.toMatch(/authorization/i);
    expect(auth.events.map(({ type }) => type)).toEqual(['token_issued']);
  });
});

test('a POST that succeeded is not repeated because the page it leads to answers 401', async () => {
  const service = await startService();
  const auth = createAuth(service);
  await auth.getToken();
  service.api.next({ status: 303, headers: { location: '/api/v1/created' } });
  service.api.next({ status: 401 });
  const response = await createAuthFetch(auth)(`${service.baseUrl}/api/v1/`, { method: 'POST', body: 'text' });
  expect(response).toMatchObject({ status: 200, redirected: true });
  const received = service.apiRequests.map(({ method, path }) => `${method} ${path}`);
  expect(received).toEqual(['POST /api/v1/', 'GET /api/v1/created', 'GET /api/v1/created']);
});
