import { Logger } from '@nestjs/common';
import type { ServiceAuthEvent } from '@service-auth/core';
import { ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { startService } from '@service-auth/test-support/service';
import { expect, test } from 'vitest';
import { eventLog } from '../src/event-log.ts';
import { boot, recordingLogger } from './support/boot.ts';

test('the log tells when a token was issued and what is spent', async () => {
  const service = await startService({ issuanceLimit: { tokens: 10 } });
  const logger = recordingLogger();
  const app = await boot({ imports: [ServiceAuthModule.forRoot(service.options)] }, logger);
  const { id, expiresAt } = await app.get(ServiceAuth).getToken();
  const until = new Date(expiresAt).toISOString();
  const line = `log [ServiceAuth] Token ${id} issued (cold), valid until ${until}; 1 of 8 tokens of this window are spent.`;
  expect(logger.lines).toContain(line);
});

test('two applications that share a client log its events once', async () => {
  const service = await startService();
  const logger = recordingLogger();
  const imports = () => [ServiceAuthModule.forRoot(service.options)];
  await boot({ imports: imports() }, logger);
  const app = await boot({ imports: imports() }, logger);
  await app.get(ServiceAuth).getToken();
  expect(logger.lines.filter((line) => line.includes('issued'))).toHaveLength(1);
});

test('trouble is logged without secrets', async () => {
  const service = await startService();
  service.tokenEndpoint.next({ status: 500, body: service.credentials.clientSecret });
  const logger = recordingLogger();
  const app = await boot({ imports: [ServiceAuthModule.forRoot(service.options)] }, logger);
  await expect(app.get(ServiceAuth).getToken()).rejects.toThrow();
  const log = logger.lines.join('\n');
  expect(log).toMatch(/warn \[ServiceAuth\] Token request failed: ERR_TOKEN_ENDPOINT, status 500\./);
  expect(service.findSecrets(log)).toEqual([]);
});

/** The line that an event becomes. */
function logged(event: ServiceAuthEvent): readonly string[] {
  const logger = recordingLogger();
  Logger.overrideLogger(logger);
  eventLog('test')(event);
  return logger.lines;
}

const about = { at: 0, audience: 'https://api.example/', instance: 'test' } as const;

const failed = {
  ...about,
  type: 'token_request_failed',
  code: 'ERR_TOKEN_ENDPOINT',
  ambiguous: false,
  durationMs: 1,
} as const;
const unanswered = { ...failed, status: undefined, error: 'TypeError ENOTFOUND', retryAt: undefined };
const answered = { ...failed, status: 503, error: undefined, ambiguous: true, retryAt: 0 };
const refused = {
  ...about,
  type: 'issuance_refused',
  retryAt: 0,
  limit: 150,
  used: 120,
  usable: 120,
  windowMs: 86_400_000,
  newRecord: undefined,
  count: 1,
} as const;
const quota = {
  ...about,
  type: 'quota_observed',
  of: 'client',
  windowMs: 3_600_000,
  tokens: 10,
  remaining: 5,
  resetAt: 0,
} as const;
const storeFailed = { ...about, type: 'store_failed', operation: 'load', error: 'Error EPERM', count: 1 } as const;

const pending = {
  ...about,
  type: 'token_unavailable',
  code: 'ERR_TOKEN_PENDING',
  retryAt: undefined,
  startedAt: 0,
  count: 1,
} as const;

test.each<[string, string, ServiceAuthEvent]>([
  [
    'debug',
    'Token a of another process in use, valid until 1970-01-01T00:00:00.000Z.',
    { ...about, type: 'token_adopted', tokenId: 'a', expiresAt: 0 },
  ],
  ['warn', 'Token request failed: ERR_TOKEN_ENDPOINT, TypeError ENOTFOUND.', unanswered],
  [
    'warn',
    'Token request failed: ERR_TOKEN_ENDPOINT, status 503. It counts: a token may have been issued. Next attempt after 1970-01-01T00:00:00.000Z.',
    answered,
  ],
  ['warn', 'The API rejected token a (renew).', { ...about, type: 'token_rejected', tokenId: 'a', outcome: 'renew' }],
  [
    'warn',
    'No token (refresh): the rest is kept for more urgent purposes: 84 of 120 usable tokens are spent (limit 150). The next one after 1970-01-01T00:00:00.000Z.',
    { ...refused, reason: 'refresh', used: 84 },
  ],
  [
    'warn',
    'The limit is not enforced. It would have refused a token (cold, 3 times): 121 of 120 usable tokens are spent (limit 150).',
    { ...refused, type: 'issuance_over_limit', reason: 'cold', used: 121, count: 3 },
  ],
  [
    'error',
    'No token (cold): the record is new, so until 1970-01-02T03:00:00.000Z only 23 of 150 tokens may be issued. The next one after 1970-01-01T00:00:00.000Z.',
    { ...refused, reason: 'cold', used: 23, usable: 75, newRecord: { allowed: 23, until: 27 * 3_600_000 } },
  ],
  [
    'error',
    'No token (cold): 120 of 120 usable tokens are spent (limit 150). The next one after 1970-01-01T00:00:00.000Z.',
    { ...refused, reason: 'cold' },
  ],
  [
    'error',
    'No token (expired, 12 times): 120 of 120 usable tokens are spent (limit 150). The next one after 1970-01-01T00:00:00.000Z.',
    { ...refused, reason: 'expired', count: 12 },
  ],
  [
    'error',
    'No token for 3 calls (ERR_STORE). Next attempt after 1970-01-01T00:00:00.000Z.',
    { ...about, type: 'token_unavailable', code: 'ERR_STORE', retryAt: 0, count: 3 },
  ],
  [
    'error',
    'No token for 1 call (ERR_TOKEN_PENDING: process replica-1).',
    { ...pending, waitsFor: 'process', process: 'replica-1' },
  ],
  ['error', 'No token for 1 call (ERR_TOKEN_PENDING: store).', { ...pending, waitsFor: 'store' }],
  [
    'warn',
    'The function for the client secret failed: Error ECONNREFUSED.',
    { ...about, type: 'client_secret_failed', error: 'Error ECONNREFUSED', count: 1 },
  ],
  ['warn', 'The store failed (load): Error EPERM.', { ...storeFailed, advice: undefined }],
  ['warn', 'The store failed (load): Error EPERM; run chmod 700.', { ...storeFailed, advice: 'run chmod 700.' }],
  ['log', 'The store answers again.', { ...about, type: 'store_recovered' }],
  [
    'warn',
    'maxmemory-policy is allkeys-lru.',
    { ...about, type: 'store_warning', warning: 'maxmemory-policy is allkeys-lru.' },
  ],
  [
    'error',
    'The record k is damaged. No token is requested until it is repaired.',
    { ...about, type: 'store_damaged', key: 'k' },
  ],
  ['warn', 'Token a was reset ("leaked").', { ...about, type: 'token_reset', tokenId: 'a', reason: 'leaked' }],
  ['warn', 'Token none was reset.', { ...about, type: 'token_reset', tokenId: undefined, reason: undefined }],
  [
    'error',
    'The store lost its record; 3 entries were put back from memory.',
    { ...about, type: 'ledger_lost', restored: 3 },
  ],
  [
    'warn',
    'The clock of the store moved by 60000 ms.',
    { ...about, type: 'clock_anomaly', clock: 'store', byMs: 60_000 },
  ],
  [
    'log',
    'The clock of the machine moved by 60000 ms.',
    { ...about, type: 'clock_anomaly', clock: 'machine', byMs: 60_000 },
  ],
  [
    'debug',
    'The provider has 5 of 10 tokens left for this client until 1970-01-01T00:00:00.000Z.',
    { ...quota, foreign: 0 },
  ],
  [
    'warn',
    'The provider has 5 of 10 tokens left for this client until 1970-01-01T00:00:00.000Z. It counts 4 that are not in the record.',
    { ...quota, foreign: 4 },
  ],
  [
    'warn',
    'The provider has 0 of 10 tokens left for the organization until 1970-01-01T00:00:00.000Z.',
    { ...quota, of: 'organization', remaining: 0, foreign: undefined },
  ],
])('at the level %s: %s', (level, message, event) => {
  expect(logged(event)).toEqual([`${level} [test] ${message}`]);
});

test('an odd answer of the token endpoint is a warning', () => {
  const issued = {
    ...about,
    type: 'token_issued',
    reason: 'cold',
    tokenId: 'a',
    expiresAt: 0,
    used: 1,
    usable: 120,
    durationMs: 1,
  } as const;
  expect(logged({ ...issued, warnings: ['lifetime_short', 'content_type'] })).toEqual([
    'warn [test] Token a issued (cold), valid until 1970-01-01T00:00:00.000Z; 1 of 120 tokens of this window are spent. Warnings: lifetime_short, content_type.',
  ]);
});

test('an event of a newer core is no reason to fail', () => {
  expect(logged({ ...about, type: 'something_new' } as unknown as ServiceAuthEvent)).toEqual([
    'log [test] something_new',
  ]);
});
