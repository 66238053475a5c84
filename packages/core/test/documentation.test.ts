import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ServiceAuthErrorCode, ServiceAuthEventType } from '../src/index.ts';

// The compiler sees to it that these lists are complete.
const codes: Record<ServiceAuthErrorCode, true> = {
  ERR_CONFIG: true,
  ERR_ISSUANCE_LIMIT: true,
  ERR_CLIENT_SECRET: true,
  ERR_CREDENTIALS_REJECTED: true,
  ERR_RATE_LIMITED: true,
  ERR_TOKEN_ENDPOINT: true,
  ERR_TOKEN_RESPONSE: true,
  ERR_STORE: true,
  ERR_STORE_INTEGRITY: true,
  ERR_TOKEN_REJECTED: true,
  ERR_CLOSED: true,
};
const events: Record<ServiceAuthEventType, true> = {
  token_issued: true,
  token_adopted: true,
  token_request_failed: true,
  token_rejected: true,
  issuance_refused: true,
  client_secret_failed: true,
  store_failed: true,
  store_recovered: true,
  store_warning: true,
  ledger_lost: true,
  clock_anomaly: true,
  token_unavailable: true,
  store_called: true,
  acquisition_started: true,
  acquisition_joined: true,
  acquisition_ended: true,
  agreement_differs: true,
  token_reset: true,
  store_damaged: true,
};

const documented = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
const rows = (pattern: RegExp) => [...documented.matchAll(pattern)].map(([, name]) => name);

test('docs/errors.md lists every error code, and no other', () => {
  expect(rows(/^\| <a id="err_\w+"><\/a>`(ERR_\w+)` \|/gm).sort()).toEqual(Object.keys(codes).sort());
});

test('docs/errors.md lists every event, and no other', () => {
  expect(rows(/^\| `([a-z]+_[a-z_]+)` \|/gm).sort()).toEqual(Object.keys(events).sort());
});
