import { expect, test } from 'vitest';
import { createMetrics } from '../../src/serve/metrics.ts';

test('each refusal and each failure of the store is counted, also those of an event that tells of many', async () => {
  const metrics = createMetrics();
  for (const count of [1, 600, 42]) {
    metrics.event({ type: 'issuance_refused', reason: 'cold', count } as never);
    metrics.event({ type: 'issuance_over_limit', reason: 'refresh', count } as never);
    metrics.event({ type: 'store_failed', operation: 'load', count } as never);
  }
  const auth = { getUsage: () => Promise.reject(new Error('away')) };
  const { text } = await metrics.text({ auth, audiences: [], all: [] } as never);
  expect(text).toContain('\nservice_auth_issuance_refused_total{reason="cold"} 643\n');
  expect(text).toContain('\nservice_auth_issuance_over_limit_total{reason="refresh"} 643\n');
  expect(text).toContain('\nservice_auth_store_failures_total{operation="load"} 643\n');
});
