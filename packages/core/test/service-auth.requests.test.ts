// In front of a provider that counts requests: none is sent without room for it, and people are told what was spent.
import { describe, expect, test } from 'vitest';
import { createUsageReader, optionsFromEnv, type ServiceAuthOptions } from '../src/index.ts';
import { createBed, day, failure, hour, minute } from './support/bed.ts';
import { answered } from './support/scripted-endpoint.ts';

const tenADay = { tokens: 10, windowMs: day, reserve: 0, counts: 'requests' } as const;
const refusal = () => answered(400, '{"error":"invalid_scope"}');

describe('counts: requests', () => {
  test('keeps to the limit with refused requests, and says what was spent', async () => {
    const bed = createBed();
    bed.endpoint.otherwise(refusal);
    for (let index = 0; index < 30; index += 1) {
      await bed.token(bed.client({ audience: `api ${index}`, issuanceLimit: tenADay })).catch(() => undefined);
      await bed.clock.advance(minute);
    }
    expect(bed.endpoint.requests).toHaveLength(10);
    const client = bed.client({ audience: 'next', issuanceLimit: tenADay });
    const usage = await bed.clock.until(client.getUsage());
    expect(usage).toMatchObject({
      limit: 10,
      counts: 'requests',
      used: 10,
      remaining: 0,
      availableNow: 0,
      refusedBecause: 'limit',
    });
    expect(usage.windows).toMatchObject([{ counts: 'requests', used: 10 }]);
    const reader = createUsageReader({
      store: bed.store,
      authUrl: 'https://auth.example.com',
      clientId: 'client-1',
      clock: bed.clock,
      issuanceLimit: tenADay,
    });
    expect(await bed.clock.until(reader.getUsage())).toMatchObject({ counts: 'requests', used: 10 });
    const error = await failure('ERR_ISSUANCE_LIMIT', bed.token(client));
    expect(error.message).toContain('10 of 10 usable requests, refused ones among them,');
    bed.endpoint.otherwise(bed.endpoint.issue);
    await bed.clock.advance(26 * hour);
    expect(await bed.token(client)).toBeDefined();
  });

  test('binds members that count tokens during a roll-out', async () => {
    const bed = createBed();
    const ofTokens = { ...tenADay, counts: 'tokens' } as const;
    bed.endpoint.otherwise(refusal);
    for (let index = 0; index < 30; index += 1) {
      const issuanceLimit = index % 2 === 0 ? tenADay : ofTokens;
      await bed.token(bed.client({ audience: `api ${index}`, issuanceLimit })).catch(() => undefined);
      await bed.clock.advance(minute);
    }
    expect(bed.endpoint.requests).toHaveLength(10);
    expect(bed.eventsOf('agreement_differs')[0]).toMatchObject({ others: [{ tokens: 10, counts: 'requests' }] });
  });
});

describe('the variable', () => {
  const env = {
    SERVICE_AUTH_URL: 'https://auth.example.com',
    SERVICE_BASE_URL: 'https://api.example.com',
    SERVICE_AUTH_AUDIENCE: 'orders',
    SERVICE_AUTH_CLIENT_ID: 'client',
    SERVICE_AUTH_CLIENT_SECRET: 'a secret of the client',
  };
  const limitOf = (limit: string, overrides = {}) =>
    optionsFromEnv({ ...env, SERVICE_AUTH_TOKEN_LIMIT: limit }, overrides).issuanceLimit;

  test('says it by a word', () => {
    expect(limitOf('300 requests')).toEqual({ tokens: 300, counts: 'requests' });
    expect(limitOf('10 requests/10m, 50/24h')).toEqual({
      windows: [
        { tokens: 10, windowMs: 10 * minute, counts: 'requests' },
        { tokens: 50, windowMs: day },
      ],
    });
    expect(limitOf('300', { issuanceLimit: { counts: 'requests' } })).toEqual({ tokens: 300, counts: 'requests' });
  });

  test.each(['300 request', 'requests', '10requests', '10 requests/', '10/1h requests', '10 requests,5 requests'])(
    'refuses %j',
    async (limit) => {
      const { problems } = await failure('ERR_CONFIG', () => limitOf(limit));
      expect(problems).toMatchObject([{ option: 'SERVICE_AUTH_TOKEN_LIMIT' }]);
    },
  );
});

test('another word for what counts is a mistake, wherever it is', async () => {
  const bed = createBed();
  const counts = 'calls' as never;
  const optionsOf = async (issuanceLimit: ServiceAuthOptions['issuanceLimit']) => {
    const { problems } = await failure('ERR_CONFIG', () => bed.client({ issuanceLimit }));
    return problems;
  };
  const message = 'must be tokens or requests';
  expect(await optionsOf({ counts })).toEqual([{ option: 'issuanceLimit.counts', message }]);
  expect(await optionsOf({ windows: [{ tokens: 1, windowMs: hour, counts }] })).toEqual([
    { option: 'issuanceLimit.windows[0].counts', message },
  ]);
});

test('each window may say what it counts', async () => {
  const bed = createBed();
  const windows = [
    { tokens: 20, windowMs: day },
    { tokens: 5, windowMs: hour, counts: 'requests' as const },
  ];
  bed.endpoint.otherwise(refusal);
  for (let index = 0; index < 9; index += 1)
    await bed
      .token(bed.client({ audience: `api ${index}`, issuanceLimit: { windows, reserve: 0 } }))
      .catch(() => undefined);
  const { windows: shown } = await bed.clock.until(bed.client({ issuanceLimit: { windows, reserve: 0 } }).getUsage());
  expect(shown).toMatchObject([
    { counts: undefined, used: 0 },
    { counts: 'requests', used: 5 },
  ]);
  expect(bed.endpoint.requests).toHaveLength(5);
});
