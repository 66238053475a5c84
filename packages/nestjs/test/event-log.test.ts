import type { ServiceAuthEvent } from '@service-auth/core';
import { ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { startService } from '@service-auth/test-support/service';
import { expect, test } from 'vitest';
import { describe as describeEvent } from '../src/event-log.ts';
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

const about = { at: 0, audience: 'https://api.example/', instance: 'test' } as const;

test.each<[string, ServiceAuthEvent]>([
  ['debug', { ...about, type: 'token_adopted', tokenId: 'a', expiresAt: 0 }],
  ['warn', { ...about, type: 'token_rejected', tokenId: 'a', outcome: 'renew' }],
  ['warn', { ...about, type: 'issuance_refused', reason: 'refresh', retryAt: 0, limit: 150, used: 120 }],
  ['error', { ...about, type: 'issuance_refused', reason: 'cold', retryAt: 0, limit: 150, used: 120 }],
  ['warn', { ...about, type: 'store_failed', operation: 'load', error: 'ECONNREFUSED', advice: undefined }],
  ['warn', { ...about, type: 'store_failed', operation: 'load', error: 'Error EPERM', advice: 'run chmod 700.' }],
  ['log', { ...about, type: 'store_recovered' }],
  ['warn', { ...about, type: 'store_warning', warning: 'maxmemory-policy is allkeys-lru.' }],
  ['error', { ...about, type: 'ledger_lost', restored: 3 }],
  ['warn', { ...about, type: 'clock_anomaly', clock: 'store', byMs: 60_000 }],
])('at the level %s: %j', (level, event) => {
  const [actual, message] = describeEvent(event);
  expect(actual).toBe(level);
  expect(message).toMatch(/^[A-Z].*\.$/);
  expect(message).not.toMatch(/undefined|NaN/);
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
  } as const;
  const [level, message] = describeEvent({ ...issued, warnings: ['lifetime_short'] });
  expect([level, message]).toEqual(['warn', expect.stringContaining('lifetime_short')]);
});

test('a request without an answer says what came in its place', () => {
  const failed = { ...about, type: 'token_request_failed', code: 'ERR_TOKEN_ENDPOINT', status: undefined } as const;
  const [, message] = describeEvent({ ...failed, error: 'TypeError ENOTFOUND', ambiguous: false, retryAt: undefined });
  expect(message).toBe('Token request failed: ERR_TOKEN_ENDPOINT, TypeError ENOTFOUND.');
});

test('an event of a newer core is no reason to fail', () => {
  expect(describeEvent({ ...about, type: 'something_new' } as unknown as ServiceAuthEvent)).toEqual([
    'debug',
    'something_new',
  ]);
});
