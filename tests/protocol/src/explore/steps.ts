import { compact } from '../../../../packages/core/src/ledger/compact.ts';
import { type Decision, decide, type Query } from '../../../../packages/core/src/ledger/decide.ts';
import { type Attempt, type LedgerRecord, latestGeneration } from '../../../../packages/core/src/ledger/journal.ts';
import type { Limits } from '../../../../packages/core/src/ledger/limits.ts';
import { reconcile } from '../../../../packages/core/src/ledger/repair.ts';
import { type Answer, settle } from '../../../../packages/core/src/ledger/settle.ts';
import { declare, isDeclarationDue } from '../../../../packages/core/src/ledger/terms.ts';
import { revoke } from '../../../../packages/core/src/ledger/tokens.ts';
import {
  allTerms,
  isSameTerm,
  leaseMs,
  lifetimeMs,
  limitsOf,
  type OutcomeKind,
  type Process,
  type Records,
  type Scope,
  type State,
  sendWithinMs,
  termsOf,
  trustedMs,
  type View,
} from './model.ts';

const hour = 3_600_000;
const audience = 'api';
const keyId = 'key';

/** The moves of the processes of a scope. They model `acquire-token.ts`, `settlement.ts` and `shared-record.ts`, one call of the store or the service at a time. */
export interface Steps {
  /** The possible next moves of this process. */
  movesOf(state: State, process: Process, index: number): Generator<[string, State]>;
  /** The state with this record stored: by a process that had this view of the record. */
  stored(state: State, next: number, index: number, view: View): State;
  /** The process learned what became of its request. */
  settling(state: State, index: number, outcome: OutcomeKind): State;
  /** The process begins to reset the tokens. */
  resetting(state: State, index: number): State;
}

/** Creates the steps of one search. */
export function createSteps(scope: Scope, records: Records): Steps {
  const all = allTerms(scope);
  const limitsOfEach: readonly Limits[] = Array.from({ length: scope.processes }, (_, index) =>
    limitsOf(termsOf(scope, index)),
  );
  const limitsAt = (index: number) => limitsOfEach[index] as Limits;
  const storeNow = (state: State) => state.time + state.clockOffset;
  const idOf = (index: number, { attempt }: Process) => `${index}.${attempt}`;

  function* movesOf(state: State, process: Process, index: number): Generator<[string, State]> {
    switch (process.doing) {
      case 'nothing':
        if (process.round < scope.rounds && process.goodUntil <= state.time) yield ['loads', load(state, index)];
        return;
      case 'retrying':
        yield ['loads again', load(state, index)];
        return;
      case 'settling again':
        yield ['loads to settle', loadToSettle(state, index)];
        return;
      case 'admitted':
        yield sendOrWithdraw(state, process, index);
        return;
      case 'waiting':
        if (state.time - process.sentAt > 30_000) yield ['times out', settling(state, index, 'ambiguous')];
        return;
      default:
        yield* swaps(state, process, index);
    }
  }

  function update(state: State, index: number, change: Partial<Process>): State {
    return { ...state, processes: state.processes.map((old, at) => (at === index ? { ...old, ...change } : old)) };
  }

  function stored(state: State, next: number, index: number, { at, declaredAt }: View): State {
    const keepsOlder = scope.kinds.includes('regress');
    const older = keepsOlder ? [...state.older, state.stored] : state.older;
    const own = all.map((term) => termsOf(scope, index).some((other) => isSameTerm(other, term)));
    const before = new Set(records.get(state.stored)?.attempts.map(({ id }) => id));
    const record = records.get(next) as LedgerRecord;
    const made = record.attempts.filter(({ id, instance }) => instance === `${index}` && !before.has(id));
    const terms = all.flatMap((_, number) =>
      own[number] || (state.declared[number] ?? 0) + hour > at ? [number] : [],
    );
    const reserved = made.map(({ id }) => [id, { order: record.sequence, terms }] as const);
    return {
      ...{ ...state, stored: next, older },
      reserved: { ...state.reserved, ...Object.fromEntries(reserved) },
      declared: state.declared.map((last, number) => (own[number] ? Math.max(last, declaredAt) : last)),
    };
  }

  function readRecord(state: State, index: number) {
    const { seen, attempt } = state.processes[index] as Process;
    const known = records.get(seen.record);
    const elapsedMs = state.time - seen.at;
    const { now, ledgerNow } = seen;
    const before = known && { ...known, record: known, now, ledgerNow, elapsedMs, maxElapsedMs: elapsedMs };
    const limits = limitsAt(index);
    const found = reconcile(records.get(state.stored), before, storeNow(state), `epoch ${index}.${attempt}`, limits);
    const isDue = isDeclarationDue(found.record, found.now, limits);
    return { ...found, record: declare(found.record, found.now, limits, `${index}`), isDue };
  }

  function viewOf(state: State, record: LedgerRecord, now: number): View {
    const declaredAt = scope.agreements.length > 1 ? state.time : 0;
    return { stored: state.stored, record: records.add(record), now, at: state.time, declaredAt };
  }

  function load(state: State, index: number): State {
    const { record, now, changed, isDue } = readRecord(state, index);
    const view = viewOf(state, record, now);
    const seen =
      state.stored < 0 ? {} : { seen: { record: view.record, now: storeNow(state), ledgerNow: now, at: state.time } };
    const next = () => written(record, record, now, index);
    if (changed) return update(state, index, { doing: 'repairing', view, next: next() });
    const after = decided(update(state, index, { view, ...seen }), index);
    // A process that only reads writes its terms when that is due.
    const { doing } = after.processes[index] as Process;
    const isDone = doing === 'nothing' || doing === 'retrying';
    return isDue && isDone ? update(after, index, { doing: 'declaring', view, next: next() }) : after;
  }

  function written(record: LedgerRecord, base: LedgerRecord, now: number, index: number): number {
    return records.add({ ...compact(record, now, limitsAt(index)), sequence: base.sequence + 1 });
  }

  function decided(state: State, index: number): State {
    const process = state.processes[index] as Process;
    const record = records.get(process.view.record) as LedgerRecord;
    const id = idOf(index, process);
    const asked = { reason: 'cold', unusable: [], resetUpTo: 0 } as const;
    const query: Query = { ...asked, audience, keyId, secretId: 'secret', id, instance: `${index}`, leaseMs };
    const decision: Decision = decide(record, process.view.now, query, limitsAt(index));
    switch (decision.kind) {
      case 'use': {
        const goodUntil = state.tokens[decision.token.id] ?? 0;
        const usedExpired = goodUntil === 0;
        return update(state, index, { ...finished(process), goodUntil, ...(usedExpired && { usedExpired }) });
      }
      case 'write':
      case 'lapsed': {
        const doing = decision.kind === 'write' ? 'reserving' : 'withdrawing';
        return update(state, index, { doing, next: written(decision.record, record, process.view.now, index) });
      }
      case 'admitted':
        return update(state, index, { doing: 'admitted', reserved: decision.attempt });
      default:
        // It waits or is denied. It may ask again at any time under the same id, because nothing was written under this id.
        return update(state, index, { doing: process.doing === 'retrying' ? 'retrying' : 'nothing' });
    }
  }

  function finished({ round, attempt }: Process): Partial<Process> {
    return { doing: 'nothing', round: round + 1, attempt: attempt + 1, next: -1, outcome: '' };
  }

  function sendOrWithdraw(state: State, process: Process, index: number): [string, State] {
    const { view, reserved } = process;
    const reservedAt = (reserved as Attempt).at;
    const lateMs = view.now - reservedAt + state.time - view.at;
    if (lateMs > sendWithinMs) return ['is too late', settling(state, index, 'unsent')];
    const request = { process: index, attempt: process.attempt, reservedAt };
    const sent = { ...state, underway: [...state.underway, request] };
    return ['sends', update(sent, index, { doing: 'waiting', sentAt: state.time })];
  }

  function settling(state: State, index: number, outcome: OutcomeKind): State {
    const { view } = state.processes[index] as Process;
    const chosen = update(state, index, { outcome });
    if (state.time - view.at >= trustedMs) return update(chosen, index, { doing: 'settling again' });
    return update(chosen, index, { doing: 'settling', next: settled(chosen, index, view.now + state.time - view.at) });
  }

  function loadToSettle(state: State, index: number): State {
    const { record, now } = readRecord(state, index);
    const view = viewOf(state, record, now);
    const seen = { record: view.record, now: storeNow(state), ledgerNow: now, at: state.time };
    const loaded = update(state, index, { view, seen });
    return update(loaded, index, { doing: 'settling', next: settled(loaded, index, now) });
  }

  function settled(state: State, index: number, now: number): number {
    const process = state.processes[index] as Process;
    const { view, reserved } = process;
    const record = records.get(view.record) as LedgerRecord;
    // Counted from before the request, whenever it is entered.
    const answer = answerTo(process, view.now - Math.max(0, view.at - process.sentAt));
    return written(settle(record, now, reserved as Attempt, answer), record, now, index);
  }

  function answerTo({ outcome, reserved }: Process, now: number): Answer {
    if (outcome === 'unsent') return { kind: 'unsent' };
    if (outcome === 'released') return { kind: 'released', cause: 'unreachable' };
    if (outcome === 'ambiguous') return { kind: 'ambiguous', charge: 1 };
    const { id, generation } = reserved as Attempt;
    const life = { expiresAt: now + lifetimeMs, lifetimeMs, aheadMs: 0 };
    return { kind: 'issued', token: { audience, keyId, id, generation, ...life, sealed: id } };
  }

  /** A write: executed or in conflict; and, as a fault, without an answer: executed, not executed, or executed later. */
  function* swaps(state: State, process: Process, index: number): Generator<[string, State]> {
    const { view, next } = process;
    const fits = view.stored === state.stored;
    yield [
      `${process.doing}: ${fits ? 'written' : 'conflict'}`,
      fits ? acknowledged(state, index) : unanswered(state, index),
    ];
    if (state.faultsLeft === 0 || !scope.kinds.includes('store')) return;
    const failed = { ...state, faultsLeft: state.faultsLeft - 1 };
    if (fits) yield ['written, no answer', unanswered(stored(failed, next, index, view), index)];
    yield ['not written, no answer', unanswered(failed, index)];
    const lateWrites = [...failed.lateWrites, { expected: view.stored, next, process: index, view }];
    yield ['written late, no answer', unanswered({ ...failed, lateWrites }, index)];
  }

  function acknowledged(state: State, index: number): State {
    const { next, doing, outcome, view: read } = state.processes[index] as Process;
    const record = records.get(next) as LedgerRecord;
    const now = Math.max(record.highWaterAt, storeNow(state));
    const view = { stored: next, record: next, now, at: state.time, declaredAt: read.declaredAt };
    const ledgerNow = Math.max(now, read.now + state.time - read.at);
    const seen = { record: next, now: storeNow(state), ledgerNow, at: state.time };
    const after = update(stored(state, next, index, read), index, { view, seen });
    if (doing === 'reserving' || doing === 'repairing') return decided(after, index);
    const process = after.processes[index] as Process;
    // Another reservation has another id.
    if (doing === 'withdrawing')
      return update(after, index, { doing: 'retrying', attempt: process.attempt + 1, next: -1 });
    // A declaration that follows a decision does not change the decision.
    if (doing === 'declaring') return update(after, index, { doing: 'nothing', next: -1 });
    if (doing === 'resetting') return update(after, index, { doing: 'nothing', next: -1, goodUntil: 0 });
    if (outcome !== 'issued') return update(after, index, { ...finished(process), round: process.round });
    const goodUntil = state.tokens[idOf(index, process)] ?? 0;
    return update(after, index, { ...finished(process), goodUntil });
  }

  function unanswered(state: State, index: number): State {
    const { doing } = state.processes[index] as Process;
    if (doing === 'settling') return update(state, index, { doing: 'settling again', next: -1 });
    const isOver = doing === 'resetting' || doing === 'declaring';
    return update(state, index, { doing: isOver ? 'nothing' : 'retrying', next: -1 });
  }

  function resetting(state: State, index: number): State {
    const { record, now } = readRecord(state, index);
    const view = viewOf(state, record, now);
    return update(state, index, {
      doing: 'resetting',
      view,
      next: written(revoke(record, audience, latestGeneration(record, now)), record, now, index),
    });
  }

  return { movesOf, stored, settling, resetting };
}
