import { problemOfInteger, type Report } from './config-problems.ts';
import { ownProperties } from './foreign.ts';
import { type Limits, limitsFor, type StoreDurability } from './ledger/limits.ts';

/** The agreement with the operator: at most `tokens` per client within `windowMs`. */
export interface IssuanceLimit {
  /** The tokens of a window: 1 to 1,000,000. Default 150 (the service's interface, Limits). */
  tokens?: number | undefined;
  /** The window in milliseconds: 1,000 to 2,678,400,000 (31 days). Default 86,400,000 (24 hours). */
  windowMs?: number | undefined;
  /**
   * The tokens that no process plans with: 0 to `tokens` - 1. They are there for tokens that were issued but are in no record, because the store lost it.
   * Default: a fifth of `tokens`, or half of them for a `replicated` store.
   */
  reserve?: number | undefined;
}

const defaultTokens = 150;
const defaultWindowMs = 86_400_000;

/** Checks the agreement and computes the limits. */
export function resolveLimits(given: IssuanceLimit | undefined, durability: StoreDurability, report: Report): Limits {
  if (given !== undefined && (typeof given !== 'object' || given === null)) {
    report('issuanceLimit', 'must be an object such as { tokens: 150 }');
    return limitsFor(defaultTokens, defaultWindowMs, undefined, durability);
  }
  const limit = ownProperties(given);
  for (const name of Object.keys(limit)) {
    if (name !== 'tokens' && name !== 'windowMs' && name !== 'reserve')
      report(`issuanceLimit.${name}`, 'is not an option');
  }
  const tokens = limit.tokens ?? defaultTokens;
  const windowMs = limit.windowMs ?? defaultWindowMs;
  const problem = problemOfInteger(tokens, 1, 1_000_000);
  report('issuanceLimit.tokens', problem);
  report('issuanceLimit.windowMs', problemOfInteger(windowMs, 1_000, 2_678_400_000));
  if (limit.reserve !== undefined && !problem) {
    report('issuanceLimit.reserve', problemOfInteger(limit.reserve, 0, tokens - 1));
  }
  return limitsFor(tokens, windowMs, limit.reserve, durability);
}
