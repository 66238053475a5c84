import { admission } from '../../../../packages/core/src/ledger/count.ts';
import type { Limits } from '../../../../packages/core/src/ledger/limits.ts';
import {
  aheadMs,
  allTerms,
  type Issued,
  lifetimeMs,
  limitsOf,
  maxInTransitMs,
  type OutcomeKind,
  type Process,
  type Records,
  restarted,
  type Scope,
  type State,
  simplified,
  spanOf,
  stepsOf,
  termsOf,
} from './model.ts';
import type { Move } from './search.ts';
import { createSteps } from './steps.ts';

/** Says what can happen next: to a process, on its way to the service and back, to the store, or nothing while time passes. */
export function createMoves(scope: Scope, records: Records): (state: State) => Move<State>[] {
  const terms = allTerms(scope);
  const limitsOfTerms: readonly Limits[] = terms.map((term) => limitsOf([term]));
  const storeNow = (state: State) => state.time + state.clockOffset;

  const { movesOf, stored, settling, resetting } = createSteps(scope, records);

  function moves(state: State): Move<State>[] {
    const found: Move<State>[] = [];
    const add = (label: string, next: State, broken?: string) =>
      found.push({ label, state: simplified(next, scope), broken: broken ?? brokenIn(next) });
    state.processes.forEach((process, index) => {
      for (const [label, next] of movesOf(state, process, index)) {
        const tooEarly = label === 'sends' ? waitedFor(state, process) : undefined;
        add(`${index} ${label}`, next, tooEarly);
      }
    });
    state.underway.forEach((_, index) => {
      for (const [label, next] of arrivals(state, index)) add(label, next);
    });
    state.lateWrites.forEach((write, index) => {
      const lateWrites = state.lateWrites.filter((_, other) => other !== index);
      add(
        'late write',
        write.expected === state.stored
          ? stored({ ...state, lateWrites }, write.next, write.process, write.view)
          : { ...state, lateWrites },
      );
    });
    for (const [label, next] of faultsOf(state)) add(label, next);
    for (const stepMs of state.stepsLeft > 0 ? stepsOf(scope) : []) {
      // Requests in transit arrive in time or are lost.
      const time = state.time + stepMs;
      if (state.underway.some(({ reservedAt }) => time + state.clockOffset - reservedAt > maxInTransitMs(scope)))
        continue;
      add(`+${stepMs / 60_000} min`, { ...state, time, stepsLeft: state.stepsLeft - 1 });
    }
    return found;
  }

  function* arrivals(state: State, at: number): Generator<[string, State]> {
    const request = state.underway[at];
    if (!request) return;
    const { process: index, attempt } = request;
    const name = `${index}.${attempt}`;
    const gone = { ...state, underway: state.underway.filter((_, other) => other !== at) };
    const reserved = gone.reserved[name] ?? { order: 0, terms: terms.map((_, number) => number) };
    const issued = {
      ...gone,
      issued: [...gone.issued, { ...reserved, at: gone.time }],
      tokens: { ...gone.tokens, [name]: gone.time + lifetimeMs },
    };
    const process = gone.processes[index] as Process;
    const isWaiting = process.doing === 'waiting' && process.attempt === attempt;
    const told = (after: State, outcome: OutcomeKind) => (isWaiting ? settling(after, index, outcome) : after);
    yield [`${name} issued`, told(issued, 'issued')];
    if (state.faultsLeft === 0) return;
    const failed = (after: State) => ({ ...after, faultsLeft: after.faultsLeft - 1 });
    if (scope.kinds.includes('reply')) {
      yield [`${name} issued, answer lost`, failed(issued)];
      yield [`${name} issued, answered 5xx`, failed(told(issued, 'ambiguous'))];
      yield [`${name} lost`, failed(gone)];
    }
    if (scope.kinds.includes('release')) yield [`${name} refused`, failed(told(gone, 'released'))];
  }

  function* faultsOf(state: State): Generator<[string, State]> {
    if (state.faultsLeft === 0) return;
    const failed = { ...state, faultsLeft: state.faultsLeft - 1 };
    const { kinds } = scope;
    for (const [index, process] of state.processes.entries()) {
      const processes = state.processes.map((old, at) => (at === index ? restarted(old) : old));
      const hasBegun = process.doing !== 'nothing' || process.goodUntil > 0 || process.seen.record >= 0;
      if (kinds.includes('crash') && hasBegun) yield [`${index} crashes`, { ...failed, processes }];
      if (kinds.includes('reset') && process.doing === 'nothing') yield [`${index} resets`, resetting(failed, index)];
    }
    if (kinds.includes('clock') && state.clockOffset === 0)
      yield ['clock +10 min', { ...failed, clockOffset: 600_000 }];
    if (kinds.includes('ahead') && state.clockOffset > 0) {
      const underway = state.underway.map((request) => ({ ...request, reservedAt: request.reservedAt - aheadMs }));
      yield ['clock put right', { ...failed, clockOffset: 0, underway }];
    }
    const lost = { ...failed, losses: failed.losses + 1 };
    if (kinds.includes('wipe') && state.losses === 0) yield ['wiped', { ...lost, stored: -1 }];
    const earlier = kinds.includes('regress') && state.losses === 0 ? new Set(state.older) : [];
    for (const older of earlier) yield [`back to ${older}`, { ...lost, stored: older, older: [] }];
  }

  /**
   * The promise: when processes that died one after another during their requests may have spent a quarter of the tokens, the next one waits, or asks only after a
   * probe. A lease is longer than the time from a reservation to its request, unless the store's clock was set in between.
   */
  function waitedFor(state: State, { reserved }: Process): string | undefined {
    const record = records.get(state.stored);
    const isMoved = state.clockOffset !== 0 || scope.kinds.includes('ahead');
    if (!record || reserved?.probed || state.losses > 0 || isMoved || scope.agreements.length > 1) return undefined;
    const now = Math.max(record.highWaterAt, storeNow(state));
    const deaths = record.attempts.filter(({ until, outcome }) => !outcome && until <= now);
    const last = Math.max(...deaths.map(({ at }) => at));
    const isHeldUp = termsOf(scope, 0).some((term) => {
      return deaths.length >= Math.max(2, term.tokens / 4) && now < last + (4 * spanOf(term)) / term.tokens;
    });
    return isHeldUp ? `a request after ${deaths.length} deaths` : undefined;
  }

  /** The promises: never more than the limit within a window; the record counts every token. */
  function brokenIn(state: State): string | undefined {
    const stale = state.processes.findIndex(({ usedExpired }) => usedExpired);
    if (stale >= 0) return `${stale} uses an expired token`;
    for (const [number, term] of terms.entries()) {
      const live = state.issued.filter(({ at }) => at > state.time - spanOf(term));
      // The reservation that came last found the others in the record: it had to be refused if the term bound its process.
      const last = live.reduce((latest, one) => (one.order > latest.order ? one : latest), live[0] as Issued);
      const bound = term.tokens * (1 + state.losses);
      if (live.length > bound && last.terms.includes(number)) return `${live.length} tokens within a window`;
      if (state.losses > 0) continue;
      const record = records.get(state.stored);
      const now = Math.max(record?.highWaterAt ?? 0, storeNow(state));
      const used = record ? (admission(record, now, limitsOfTerms[number] as Limits, 'reset')[0]?.used ?? 0) : 0;
      if (used < live.length) return `${used} counted, ${live.length} issued`;
    }
    return undefined;
  }

  return moves;
}
