import { instantOf } from './clock.ts';
import { type Ask, confirms, decide } from './ledger/decide.ts';
import { pause } from './pause.ts';
import { reportDenial } from './reports.ts';
import { requestReserved } from './reserved-request.ts';
import { randomId } from './seal.ts';
import { toLocalTime } from './shared-ledger.ts';
import { errorOf, waitedTooLong } from './token-errors.ts';
import { keepUntil, type TokenRequest, type TokenResult, type Work } from './work.ts';

/**
 * Gets a token from the record or from the token endpoint: load, decide, swap, send, settle, swap. The functions in `ledger/` decide. Rejects with
 * the errors of `getToken()`.
 */
export async function acquireToken(work: Work, request: TokenRequest, signal: AbortSignal): Promise<TokenResult> {
  const { settings, ledger, settlement, secrets, usableTokens, leaseMs } = work;
  const { audience, clock, instance, limits } = settings;
  const secret = await (request.mayIssue ? secrets.ask() : secrets.last());
  const { id: keyId, secretId } = secret.key;
  const cached = request.cached && { id: request.cached.token.id, generation: request.cached.generation };
  const asker = { audience, keyId, secretId, cached, instance, leaseMs };
  let ask: Ask = { ...request, ...asker, unreadable: false, id: randomId() };
  let waitedMs = 0;

  for (let pauseMs = 25; ; pauseMs = Math.min(2_000, pauseMs * 1.6)) {
    signal.throwIfAborted();
    await settlement.enterUnsettled();
    const begunAt = instantOf(clock);
    // A caller that only reads has a cached token, so one try is enough.
    let view = await ledger.load(request.mayIssue ? 2 : 1);
    const { readAt } = view;
    let decision = decide(view.record, view.now, ask, limits);
    if (decision.kind === 'write') {
      const swapped = await ledger.swap(view, decision.record);
      if (swapped) {
        view = swapped;
        decision = decide(view.record, view.now, ask, limits);
      }
    } else {
      view = await ledger.declare(view);
    }
    if (confirms(decision, ask.cached)) request.onRead(readAt);
    switch (decision.kind) {
      case 'use': {
        const usable = await usableTokens.opened(decision.token, view, secret.key);
        if (usable) return { kind: 'token', usable };
        ask = { ...ask, unusable: [...ask.unusable, decision.token.id], unreadable: true };
        continue;
      }
      case 'admitted': {
        const { entry, generation, probesFirst } = decision;
        const reservation = { entry, keyId, secretId };
        const reserved = { request, secret, reservation, generation, view, probesFirst, begunAt };
        const result = await requestReserved(work, reserved);
        if (result) return result;
        ask = { ...ask, id: randomId() };
        break;
      }
      case 'keep': {
        const { denial, retryAt } = decision;
        if (denial?.cause === 'limit') reportDenial(settings, request.reason, denial, view);
        return keepUntil(work, retryAt, view);
      }
      case 'drop':
        return { kind: 'drop' };
      case 'deny':
        if (decision.denial.cause === 'limit') reportDenial(settings, decision.reason, decision.denial, view);
        throw errorOf(settings, decision.denial, view, keyId);
    }
    // Others are asking, or came first; or the store was too slow for a request, or its clocks differ.
    const until = decision.kind === 'wait' ? decision.until : view.now + pauseMs;
    if (waitedMs > 3 * leaseMs) throw waitedTooLong(toLocalTime(until, view, clock));
    waitedMs += await waited(work, Math.min(pauseMs, until - view.now + 1), signal);
  }
}

/** Waits, and resolves with the time that it waited. Time in which the event loop stood still does not count. */
async function waited({ settings: { clock } }: Work, delayMs: number, signal: AbortSignal): Promise<number> {
  const from = clock.monotonic();
  await pause(clock, delayMs, signal);
  return Math.min(clock.monotonic() - from, 1.5 * delayMs + 1);
}
