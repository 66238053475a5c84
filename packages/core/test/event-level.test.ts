import { expect, test } from 'vitest';
import { eventLevel, type ServiceAuthEvent, type ServiceAuthEventLevel } from '../src/index.ts';

type Fields = Partial<Omit<ServiceAuthEvent, 'type'>> & Record<string, unknown>;

test.each<[ServiceAuthEventLevel, string, ServiceAuthEvent['type'], Fields]>([
  ['info', 'a new token', 'token_issued', { warnings: [] }],
  ['warn', 'a new token whose answer has a flaw', 'token_issued', { warnings: ['lifetime_short'] }],
  ['debug', 'the token of another process', 'token_adopted', {}],
  ['warn', 'an outage of the token endpoint', 'token_request_failed', { code: 'ERR_TOKEN_ENDPOINT' }],
  ['warn', 'a rate limit', 'token_request_failed', { code: 'ERR_RATE_LIMITED' }],
  ['error', 'wrong credentials', 'token_request_failed', { code: 'ERR_CREDENTIALS_REJECTED' }],
  ['error', 'a caller without a token', 'token_unavailable', {}],
  ['warn', 'a 401 to the present token', 'token_rejected', { outcome: 'renew' }],
  ['warn', 'a 401 that cannot be mended yet', 'token_rejected', { outcome: 'kept' }],
  ['debug', 'a late 401 to a token that was replaced', 'token_rejected', { outcome: 'replaced' }],
  ['warn', 'a renewal that the limit refuses', 'issuance_refused', { reason: 'refresh' }],
  ['error', 'a caller that the limit refuses', 'issuance_refused', { reason: 'cold' }],
  ['warn', 'a token above a limit that is not enforced', 'issuance_over_limit', { reason: 'cold' }],
  ['debug', 'a count of the provider that the record knows', 'quota_observed', { foreign: 0, remaining: 5 }],
  ['debug', 'a count of the whole organization', 'quota_observed', { foreign: undefined, remaining: 5 }],
  ['warn', 'tokens that the record does not know', 'quota_observed', { foreign: 1, remaining: 5 }],
  ['warn', 'a window of the provider with nothing left', 'quota_observed', { foreign: 0, remaining: 0 }],
  ['info', 'a machine that slept', 'clock_anomaly', { clock: 'machine' }],
  ['warn', 'a clock of the store that stepped', 'clock_anomaly', { clock: 'store' }],
  ['warn', 'a store that fails', 'store_failed', {}],
  ['info', 'a store that answers again', 'store_recovered', {}],
  ['error', 'a lost record', 'ledger_lost', {}],
  ['debug', 'an operation', 'store_called', { outcome: 'failed' }],
  ['info', 'an event of a newer core', 'something_new' as ServiceAuthEvent['type'], {}],
  ['info', 'an event with a name of Object.prototype', 'toString' as ServiceAuthEvent['type'], {}],
])('%s is the level of %s', (level, _, type, fields) => {
  expect(eventLevel({ type, ...fields } as unknown as ServiceAuthEvent)).toBe(level);
});
