import type { AccessToken } from '../../../../packages/core/src/contract/access-token.ts';
import { compact } from '../../../../packages/core/src/ledger/compact.ts';
import { confirms, decide, type Query } from '../../../../packages/core/src/ledger/decide.ts';
import {
  type Attempt,
  type LedgerRecord,
  latestGeneration,
  type StoredToken,
} from '../../../../packages/core/src/ledger/journal.ts';
import { pace } from '../../../../packages/core/src/ledger/pace.ts';
import { type Answer, settle } from '../../../../packages/core/src/ledger/settle.ts';
import { marginOf, revoke, revokedOf } from '../../../../packages/core/src/ledger/tokens.ts';
import type { Instant } from '../../../../packages/core/src/platform/instant.ts';
import { resetDone, revalidated } from '../../../../packages/core/src/token/memory.ts';
import {
  type FlightEnd,
  type FlightKind,
  instantAt,
  landing,
  lifetimeMs,
  limits,
  type MemoryState,
  type Process,
  type RunningFlight,
  update,
} from './memory-model.ts';
import type { Records } from './model.ts';

const audience = 'api';
const keyId = 'key';
const secretId = 'secret';

/** The data that a process reads and writes. */
export interface RecordSteps {
  /** Reads the record, and reserves at once what is allowed: what others write in between is another search. */
  reads(state: MemoryState, index: number, kind: FlightKind, running: RunningFlight): MemoryState;
  /** The token endpoint issued a token. */
  answered(state: MemoryState, index: number, running: RunningFlight): MemoryState;
  /** The token endpoint was not reached. */
  unanswered(state: MemoryState, index: number, running: RunningFlight): MemoryState;
  /** The fleet learns of a reset. */
  tellsOfReset(state: MemoryState, process: Process, index: number): MemoryState;
}

/** Creates the steps of one search that read or write the record: what `acquire-token.ts` does, with the real ledger. */
export function createRecordSteps(records: Records): RecordSteps {
  function recordOf({ record }: MemoryState): LedgerRecord {
    return records.get(record) as LedgerRecord;
  }

  function reads(state: MemoryState, index: number, kind: FlightKind, running: RunningFlight): MemoryState {
    const process = state.processes[index] as Process;
    const now = instantAt(state, process);
    const stored = recordOf(state);
    const ledgerNow = Math.max(state.time, stored.highWaterAt);
    const { cached, reason } = running.flight;
    const query: Query = {
      audience,
      keyId,
      secretId,
      reason,
      cached: cached && { id: cached.token.id, generation: cached.generation },
      unusable: running.unusable,
      resetUpTo: running.resetUpTo,
      unreadable: false,
      id: running.id,
      instance: `${index}`,
      leaseMs: 60_000,
    };
    let record = compact({ ...stored, highWaterAt: ledgerNow }, ledgerNow, limits);
    let decision = decide(record, ledgerNow, query, limits);
    let written = state;
    if (decision.kind === 'write') {
      record = { ...decision.record, sequence: record.sequence + 1 };
      written = { ...state, record: records.add(record) };
      decision = decide(record, ledgerNow, query, limits);
    }
    const memory = confirms(decision, query.cached) ? revalidated(process.memory, running.flight, now) : process.memory;
    written = update(written, index, { memory });
    switch (decision.kind) {
      case 'use':
        return landing(written, index, kind, running, {
          kind: 'token',
          usable: opened(decision.token, ledgerNow, now),
        });
      case 'keep': {
        const retryAt = now.monotonic + Math.max(0, decision.retryAt - ledgerNow);
        return landing(written, index, kind, running, { kind: 'keep', retryAt });
      }
      case 'drop':
        return landing(written, index, kind, running, { kind: 'drop' });
      case 'deny':
        return landing(written, index, kind, running, { kind: 'failed' });
      case 'admitted': {
        const stage = { name: 'sent', attempt: decision.attempt, sentAt: now } as const;
        return update(written, index, { [kind]: { ...running, stage }, flights: process.flights + 1 });
      }
      default:
        return written;
    }
  }

  function opened({ id, generation, expiresAt, lifetimeMs }: StoredToken, ledgerNow: number, now: Instant) {
    const usableUntil = now.monotonic + expiresAt - ledgerNow - marginOf(lifetimeMs);
    return { token: tokenOf(id), generation, adopted: true, lifetimeMs, countedFrom: now, usableUntil };
  }

  function tokenOf(id: string): AccessToken {
    return { id, issuedAt: 0, expiresAt: 0, value: id, authorization: id };
  }

  function answered(state: MemoryState, index: number, running: RunningFlight): MemoryState {
    const { stage, id } = running;
    if (stage.name !== 'sent') return state;
    const { attempt, sentAt } = stage;
    const { generation } = attempt;
    const life = { expiresAt: attempt.at + lifetimeMs, lifetimeMs, aheadMs: 0 };
    const stored: StoredToken = { audience, keyId, id, generation, ...life, sealed: id };
    const tokens = { ...state.tokens, [id]: { generation, expiresAt: state.time + lifetimeMs } };
    const record = settled(state, attempt, { kind: 'issued', token: stored });
    const next = { ...state, tokens, record: records.add(record) };
    if (revokedOf(record, audience) >= generation) {
      const process = state.processes[index] as Process;
      const again: RunningFlight = { ...running, id: `${index}.${process.flights}`, stage: { name: 'reading' } };
      return update(next, index, { acquiring: again });
    }
    const usableUntil = sentAt.monotonic + lifetimeMs - marginOf(lifetimeMs);
    const usable = { token: tokenOf(id), generation, adopted: false, lifetimeMs, countedFrom: sentAt, usableUntil };
    return landing(next, index, 'acquiring', running, { kind: 'token', usable });
  }

  function unanswered(state: MemoryState, index: number, running: RunningFlight): MemoryState {
    const { stage, flight } = running;
    if (stage.name !== 'sent') return state;
    const process = state.processes[index] as Process;
    const record = settled(state, stage.attempt, { kind: 'released', cause: 'unreachable' });
    const { holds } = pace(record, state.time, { audience, keyId, secretId }, 'refresh', limits);
    const pauseMs = Math.max(0, ...holds.map(({ until }) => until - state.time));
    const retryAt = instantAt(state, process).monotonic + pauseMs;
    const isNeeded = flight.reason === 'cold' || flight.reason === 'expired';
    const result: FlightEnd = isNeeded ? { kind: 'failed' } : { kind: 'keep', retryAt };
    return landing({ ...state, record: records.add(record) }, index, 'acquiring', running, result);
  }

  function settled(state: MemoryState, attempt: Attempt, answer: Answer): LedgerRecord {
    const stored = recordOf(state);
    const now = Math.max(state.time, stored.highWaterAt);
    const record = settle(stored, now, attempt, answer);
    return { ...compact(record, now, limits), sequence: stored.sequence + 1 };
  }

  function tellsOfReset(state: MemoryState, process: Process, index: number): MemoryState {
    const stored = recordOf(state);
    const now = Math.max(state.time, stored.highWaterAt);
    const latest = latestGeneration(stored, now);
    const upTo = Math.max(latest, process.resetting?.cached?.generation ?? 0);
    const record = { ...revoke(stored, audience, upTo), sequence: stored.sequence + 1 };
    const told = { ...state, record: records.add(record), resets: [...state.resets, { upTo, at: state.time }] };
    return update(told, index, { memory: resetDone(process.memory, upTo), resetting: undefined });
  }

  return { reads, answered, unanswered, tellsOfReset };
}
