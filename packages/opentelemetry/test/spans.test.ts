import { inspect } from 'node:util';
import { SpanStatusCode } from '@opentelemetry/api';
import { memoryStore } from '@service-auth/core';
import { createAuth, startService } from '@service-auth/test-support/service';
import { createTestClock } from '@service-auth/testing';
import { expect, test, vi } from 'vitest';
import { instrumentServiceAuth } from '../src/index.ts';
import { acquisitionSpans } from '../src/spans.ts';
import { createTraces } from './support/telemetry.ts';

async function traced(options: Parameters<typeof createAuth>[1] = {}) {
  const service = await startService();
  const auth = createAuth(service, { store: memoryStore(), ...options });
  const { tracerProvider, ended } = createTraces();
  instrumentServiceAuth(auth, { tracerProvider });
  const tracer = tracerProvider.getTracer('application');
  /** Runs `work` in a span of the application. Returns the id of the span. */
  const inSpan = (work: () => Promise<unknown>): Promise<string> =>
    tracer.startActiveSpan('request', async (span) => {
      await work().finally(() => span.end());
      return span.spanContext().spanId;
    });
  const acquisitions = () => ended().filter(({ name }) => name === 'service_auth.acquire');
  return { service, auth, inSpan, acquisitions };
}

test('an attempt is a child of the call that began it, and says how many calls wait for it', async () => {
  const { auth, inSpan, acquisitions } = await traced();
  const callers = await Promise.all([1, 2, 3].map(() => inSpan(() => auth.getToken())));
  const [span, ...others] = acquisitions();
  expect(others).toEqual([]);
  expect(span?.parentSpanContext?.spanId).toBe(callers[0]);
  expect(span?.attributes).toEqual({
    'service_auth.reason': 'cold',
    'service_auth.outcome': 'issued',
    'service_auth.callers': 3,
  });
  expect(span?.events.map(({ name }) => name)).toEqual(['token issued']);
});

test('a call that finds a token in memory makes no span', async () => {
  const { auth, inSpan, acquisitions } = await traced();
  await auth.getToken();
  await inSpan(() => auth.getToken());
  expect(acquisitions()).toHaveLength(1);
});

test('an attempt without a trace around it begins a trace of its own', async () => {
  const { auth, acquisitions } = await traced();
  await auth.getToken();
  expect(acquisitions()[0]?.parentSpanContext).toBeUndefined();
});

test('a renewal that nobody waits for has a trace of its own, and a read in the background has none', async () => {
  const clock = createTestClock();
  const { auth, inSpan, acquisitions } = await traced({ clock, store: memoryStore({ clock }) });
  const ends = vi.fn();
  auth.subscribe(({ type }) => type === 'acquisition_ended' && ends(), { operations: true });
  await auth.getToken();
  await clock.advance(27_000);
  await inSpan(() => auth.getToken());
  await expect.poll(() => ends.mock.calls).toHaveLength(2);
  await clock.advance(23.5 * 3_600_000);
  await inSpan(() => auth.getToken());
  // The call after a long pause waits for a read of the record, and begins the renewal that is due.
  await expect.poll(acquisitions).toHaveLength(3);
  const [, read, renewal] = acquisitions();
  expect(read?.attributes).toMatchObject({ 'service_auth.reason': 'revalidate', 'service_auth.callers': 1 });
  expect(renewal?.attributes).toMatchObject({ 'service_auth.reason': 'refresh', 'service_auth.callers': 0 });
  expect(renewal?.parentSpanContext).toBeUndefined();
});

test('a failure says what failed', async () => {
  const { auth, service, inSpan, acquisitions } = await traced();
  service.tokenEndpoint.always({ status: 503, headers: { 'retry-after': '5' } });
  await inSpan(() => auth.getToken().catch(() => {}));
  const [span] = acquisitions();
  expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'ERR_TOKEN_ENDPOINT' });
  expect(span?.attributes).toMatchObject({ 'error.type': 'ERR_TOKEN_ENDPOINT', 'service_auth.outcome': 'failed' });
  const attributes = { 'error.type': '503', 'service_auth.retry_after': expect.closeTo(5, -1) };
  expect(span?.events).toMatchObject([{ name: 'token request failed', attributes }]);
});

test('conflicts and failures of the store are events of the attempt', async () => {
  const store = memoryStore();
  const failing = {
    ...store,
    load: async (key: string) => {
      failing.load = store.load as never;
      throw Object.assign(new Error(key), { code: 'ECONNRESET' });
    },
  };
  const { auth, acquisitions } = await traced({ store: failing as never });
  await auth.getToken();
  expect(acquisitions()[0]?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['store failed', { 'service_auth.operation': 'load' }],
    ['token issued', { 'service_auth.used': 1 }],
  ]);
});

test('a token request is an event of the attempt that sent it, and of no read beside it', () => {
  const { tracerProvider, ended } = createTraces();
  const { listener, end } = acquisitionSpans(tracerProvider.getTracer('spans'), () => ({}));
  const common = { at: Date.now(), audience: 'api', acquisition: 1, callers: 1 } as const;
  const events = [
    { ...common, type: 'acquisition_started', reason: 'revalidate' },
    { ...common, type: 'acquisition_started', reason: 'refresh', acquisition: 2 },
    { ...common, type: 'token_issued', reason: 'refresh', used: 7 },
  ];
  for (const event of events) listener(event as never);
  expect(ended()).toEqual([]);
  end();
  const [read, renewal] = ended();
  expect(read?.events).toEqual([]);
  expect(renewal?.events).toMatchObject([{ name: 'token issued', attributes: { 'service_auth.used': 7 } }]);
});

test('a refusal is an event of the attempt, and says how many attempts it stands for', async () => {
  const clock = createTestClock();
  const issuanceLimit = { tokens: 1, reserve: 0 };
  const { auth, acquisitions } = await traced({ clock, store: memoryStore({ clock }), issuanceLimit });
  await auth.getToken();
  await auth.reset();
  for (let call = 0; call < 3; call += 1) {
    await auth.getToken().catch(() => {});
    await clock.advance(30_000);
  }
  const refusals = acquisitions().filter(({ attributes }) => attributes['error.type'] === 'ERR_ISSUANCE_LIMIT');
  expect(refusals.map(({ events }) => events.map(({ attributes }) => attributes?.['service_auth.refusals']))).toEqual([
    [1],
    [],
    [2],
  ]);
});

test('no span contains a secret, a token or an address', async () => {
  const { auth, service, acquisitions } = await traced();
  const { value } = await auth.getToken();
  service.tokenEndpoint.always({ status: 500, body: 'secret of the endpoint' });
  await auth.reset();
  await auth.getToken().catch(() => {});
  const text = inspect(acquisitions(), { depth: 10 });
  const { clientSecret } = service.credentials;
  expect(text).toContain('service_auth.acquire');
  for (const secret of [value, clientSecret, service.authUrl, 'secret of the endpoint']) {
    expect(text).not.toContain(secret);
  }
});

test('a client works as before without providers', async () => {
  const service = await startService();
  const auth = createAuth(service);
  const end = instrumentServiceAuth(auth);
  await auth.getToken();
  end();
  expect(service.counts.issued).toBe(1);
});
