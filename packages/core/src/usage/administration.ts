import { configError, problemOfText } from '../contract/config-problems.ts';
import { refusedUntil } from '../ledger/forecast.ts';
import { retryRoomAt, withCompromise, withRetry } from '../ledger/orders.ts';
import type { Asker } from '../ledger/pace.ts';
import { type LedgerRecord, resetUpTo, stateOf } from '../ledger/record.ts';
import { instantOf } from '../platform/clock.ts';
import { randomId } from '../record/seal.ts';
import { toLocalTime, type View } from '../record/view.ts';
import { type Memory, need } from '../token/memory.ts';
import type { ClientParts } from '../token/running-attempt.ts';
import type { Hold, Usage } from './usage.ts';
import { holdsIn, usageOf } from './usage-of.ts';

// The calls of people, or of programs on their behalf: reading the usage, reporting a compromised
// token, ordering another try.

/** Options of `reset()`. */
export interface ResetOptions {
  /**
   * Why the token is reset, for `getUsage().resets`: 1 to 200 characters. Everybody who can read
   * the store can read it. Default: none.
   */
  reason?: string | undefined;
}

/** The result of `reset()`. */
export interface ResetResult {
  /** The id of the token that nobody uses any more. Undefined: there was none. */
  readonly tokenId: string | undefined;
  /**
   * The instant from which a replacement can be issued, in epoch milliseconds of this machine's
   * clock. Undefined: now.
   */
  readonly retryAt: number | undefined;
}

/** The result of `retryNow()`. */
export interface RetryResult {
  /** The holds that ended. */
  readonly ended: readonly Hold[];
  /**
   * The instant from which another call has an effect, in epoch milliseconds of this machine's
   * clock. Undefined: this call had its effect, or there was no hold.
   */
  readonly retryAt: number | undefined;
}

/** Reads the usage. */
export async function readUsage(parts: ClientParts): Promise<Usage> {
  const view = await parts.sharedRecord.read(parts.settings);
  return usageOf(view, await askerIn(view, parts), parts.settings.clock);
}

/**
 * Returns the asker. If the client secret can't be read, the rejected secret counts as the
 * asker's.
 */
async function askerIn({ record, now }: View, { settings, secrets }: ClientParts): Promise<Asker> {
  const { tokenName: name } = settings;
  const refusals = Object.entries({ ...record.refusals, ...stateOf(record, name).refusals });
  // Only these holds depend on the secret. The application's vault should not be asked for anything
  // else.
  const isVain = record.tokens.some((token) => token.name === name && (token.renewAfter ?? 0) > now);
  if (refusals.length === 0 && !isVain) return { name, keyId: '', secretId: '' };
  try {
    const { key } = await secrets.last();
    return { name, keyId: key.id, secretId: key.secretId };
  } catch {
    const [secretId, refusal] = refusals[0] ?? [];
    return { name, keyId: refusal?.keyId ?? '', secretId: secretId ?? '' };
  }
}

/** Returns the checked reason of a reset. */
export function reasonOf(options: ResetOptions | undefined): string | undefined {
  const reason = options?.reason;
  const problem = reason === undefined ? undefined : problemOfText(reason, 200);
  if (problem) throw configError([{ option: 'reason', message: problem }]);
  return reason;
}

/**
 * Writes that the tokens of the audience are compromised. `memory`: what this process knew before.
 * `upTo`: tokens up to this generation were reset.
 */
export async function resetTokens(
  parts: ClientParts,
  memory: Memory,
  reason: string | undefined,
): Promise<{ readonly result: ResetResult; readonly upTo: number }> {
  const { settings } = parts;
  const { tokenName: name, clock, instance } = settings;
  const { cached } = memory;
  // A process that has not read the record for a while does not know which token the fleet uses.
  const isServed = need(memory, instantOf(clock)) === 'serve';
  const known = cached && { id: cached.token.id, generation: cached.generation, isServed };
  const { key } = await parts.secrets.last();
  const { id: keyId, secretId } = key;
  const reset = { id: randomId(), name, keyId, instance, reason, cached: known };
  const { view } = await parts.sharedRecord.commit(settings, (found) => {
    return { record: withCompromise(found.record, found.now, reset), result: undefined };
  });
  const listed = view.record.log.find(({ id }) => id === reset.id);
  const tokenId = listed?.tokenId;
  if (!listed) return { result: { tokenId, retryAt: undefined }, upTo: 0 };
  settings.emit('token_reset', { tokenId, reason });
  const refused = refusedUntil(view, { name, keyId, secretId }, 'reset');
  const retryAt = refused && toLocalTime(refused.until, view, clock);
  return { result: { tokenId, retryAt }, upTo: resetUpTo(view.record, name) };
}

/** Ends the holds of the fleet. */
export async function retryNow({ settings, sharedRecord }: ClientParts): Promise<RetryResult> {
  const { clock, instance } = settings;
  const order = { id: randomId(), by: instance };
  let written: RetryResult | undefined;
  const { result } = await sharedRecord.commit(settings, (view): { record: LedgerRecord; result: RetryResult } => {
    // The reply to the swap that wrote the order was lost.
    if (written && view.record.retries?.id === order.id) return { record: view.record, result: written };
    const holds = holdsIn(view, clock);
    const at = holds.length === 0 ? 0 : retryRoomAt(view.record);
    const retryAt = at > view.now ? toLocalTime(at, view, clock) : undefined;
    if (holds.length === 0 || retryAt !== undefined) return { record: view.record, result: { ended: [], retryAt } };
    const record = withRetry(view.record, view.now, order);
    const left = holdsIn({ ...view, record }, clock);
    const ended = holds.filter(({ kind }) => !left.some((hold) => hold.kind === kind));
    written = { ended, retryAt };
    return { record, result: written };
  });
  return result;
}
