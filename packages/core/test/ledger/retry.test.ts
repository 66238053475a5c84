import { expect, test } from 'vitest';
import { withRetry } from '../../src/ledger/retry.ts';
import { hour, minute, noon } from '../support/instants.ts';
import { recordWith } from '../support/records.ts';

test('orders to try again are 1, 2, 4 minutes apart, and begin anew after an hour without one', () => {
  const first = withRetry(recordWith({}), noon);
  const second = withRetry(first, noon + minute);
  expect([first, second].map(({ retry }) => retry)).toEqual([
    { count: 1, retryAt: noon + minute, openUntil: noon + 15 * minute },
    { count: 2, retryAt: noon + 3 * minute, openUntil: noon + 16 * minute },
  ]);
  const later = noon + 2 * hour;
  expect(withRetry(second, later).retry).toEqual({ count: 1, retryAt: later + minute, openUntil: later + 15 * minute });
});
