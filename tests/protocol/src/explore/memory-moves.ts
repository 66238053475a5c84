import type { Flight } from '../../../../packages/core/src/token/flight.ts';
import {
  after,
  due,
  flightOf,
  need,
  rejected,
  resetBegun,
  servableForMs,
  unusable,
} from '../../../../packages/core/src/token/memory.ts';
import {
  type FlightEnd,
  type FlightKind,
  instantAt,
  landing,
  type MemoryScope,
  type MemoryState,
  marked,
  type Process,
  type RunningFlight,
  restartedProcess,
  sleepMs,
  timeSteps,
  update,
} from './memory-model.ts';
import { createRecordSteps } from './memory-record.ts';
import type { Records } from './model.ts';
import type { Move } from './search.ts';

const heardOfResetWithinMs = 30_000;

/** Says what can happen next: what `service-auth.ts` and `acquire-token.ts` do with the memory of a process, one answer of the store or the service at a time. */
export function createMemoryMoves(scope: MemoryScope, records: Records): (state: MemoryState) => Move<MemoryState>[] {
  const { reads, answered, unanswered, tellsOfReset } = createRecordSteps(records);

  function moves(state: MemoryState): Move<MemoryState>[] {
    const found: Move<MemoryState>[] = [];
    for (const [index, process] of state.processes.entries()) {
      found.push(asks(state, process, index));
      for (const kind of ['reading', 'acquiring'] as const) {
        const flight = process[kind];
        if (flight)
          for (const [label, next] of flightMoves(state, index, kind, flight)) found.push({ label, state: next });
      }
      if (process.resetting)
        found.push({ label: `${index} tells of its reset`, state: tellsOfReset(state, process, index) });
      for (const [label, next] of faultsOf(state, process, index))
        found.push({ label: `${index} ${label}`, state: next });
    }
    if (state.stepsLeft > 0)
      for (const ms of timeSteps)
        found.push({
          label: `+${ms / 1_000} s`,
          state: { ...state, time: state.time + ms, stepsLeft: state.stepsLeft - 1 },
        });
    return found.map((move) => ({ ...move, state: marked(move.state) }));
  }

  /** `getToken()`: serves the cached token and starts the due work, or starts the flight that it needs. */
  function asks(state: MemoryState, process: Process, index: number): Move<MemoryState> {
    const now = instantAt(state, process);
    const needed = need(process.memory, now);
    const label = `${index} asks: ${needed}`;
    if (needed === 'revalidate') return { label, state: started(state, index, 'reading', 'revalidate') };
    if (needed !== 'serve') return { label, state: started(state, index, 'acquiring', needed) };
    const work = due(process.memory, now);
    let next = update(state, index, { memory: work.memory });
    if (work.renew) next = started(next, index, 'acquiring', 'refresh');
    if (work.revalidate) next = started(next, index, 'reading', 'revalidate');
    return { label, state: next, broken: brokenBy(state, { ...process, memory: work.memory }) };
  }

  /** The promises about a token that is served now. */
  function brokenBy(state: MemoryState, process: Process): string | undefined {
    const { cached } = process.memory;
    const id = cached?.token.id ?? '';
    const token = state.tokens[id];
    if (!token) return 'a token is served that was never issued';
    const until = state.time + Math.max(0, servableForMs(process.memory, instantAt(state, process)));
    if (until >= token.expiresAt) return 'an expired token is served';
    if (process.ended.includes(id)) return 'a token is served by the process that reset it';
    if (process.refused === id) return 'a rejected token is served before the process asked for another one';
    const heard = state.resets.some(
      ({ upTo, at }) => token.generation <= upTo && until > at + heardOfResetWithinMs && process.readFailedAt <= at,
    );
    return heard ? 'a token is served that the fleet reset more than 30 seconds ago' : undefined;
  }

  /** Joins the flight of this kind that is under way, or starts one. */
  function started(state: MemoryState, index: number, kind: FlightKind, reason: Flight['reason']): MemoryState {
    const process = state.processes[index] as Process;
    if (process[kind]) return state;
    const { memory, flights } = process;
    const flight = flightOf(memory, reason, instantAt(state, process));
    const running: RunningFlight = {
      flight,
      id: `${kind} ${index}.${flights}`,
      unusable: unusable(memory, flight, false),
      resetUpTo: memory.resetUpTo,
      stage: { name: 'reading' },
    };
    return update(state, index, { [kind]: running });
  }

  function* flightMoves(
    state: MemoryState,
    index: number,
    kind: FlightKind,
    running: RunningFlight,
  ): Generator<[string, MemoryState]> {
    const { stage } = running;
    const name = `${index} ${kind}`;
    const failed = { ...state, faultsLeft: state.faultsLeft - 1 };
    switch (stage.name) {
      case 'reading':
        yield [`${name} reads`, reads(state, index, kind, running)];
        if (state.faultsLeft > 0 && scope.kinds.includes('read fails'))
          yield [
            `${name} cannot read`,
            landing(update(failed, index, { readFailedAt: state.time }), index, kind, running, { kind: 'failed' }),
          ];
        return;
      case 'sent':
        if (Object.keys(state.tokens).length < scope.tokens)
          yield [`${name} is answered`, answered(state, index, running)];
        if (state.faultsLeft > 0 && scope.kinds.includes('request fails'))
          yield [`${name} is not answered`, unanswered(failed, index, running)];
        return;
      case 'landing':
        yield [`${name} lands`, lands(state, index, kind, running.flight, stage.result)];
    }
  }

  function lands(state: MemoryState, index: number, kind: FlightKind, flight: Flight, result: FlightEnd): MemoryState {
    const process = state.processes[index] as Process;
    const memory = after(process.memory, flight, result, instantAt(state, process), 0.5);
    // Another flight may have begun before the 401: it does not answer it.
    const refused = kind === 'acquiring' && flight.reason === 'rejected' ? undefined : process.refused;
    return update(state, index, { memory, [kind]: undefined, refused: memory.mustReplace ? process.refused : refused });
  }

  function* faultsOf(state: MemoryState, process: Process, index: number): Generator<[string, MemoryState]> {
    if (state.faultsLeft === 0) return;
    const failed = { ...state, faultsLeft: state.faultsLeft - 1 };
    const { memory } = process;
    const { kinds } = scope;
    if (kinds.includes('401') && memory.cached) {
      const { authorization, id } = memory.cached.token;
      const { memory: next, outcome } = rejected(memory, authorization, instantAt(state, process).monotonic);
      const refused = outcome === 'renew' ? id : process.refused;
      yield ['is answered 401', update(failed, index, { memory: next, refused })];
    }
    if (kinds.includes('reset') && !process.resetting) {
      const { cached } = memory;
      const ended = cached ? [...process.ended, cached.token.id] : process.ended;
      yield ['resets', update(failed, index, { memory: resetBegun(memory), resetting: { cached }, ended })];
    }
    if (kinds.includes('sleep')) {
      const time = state.time + sleepMs;
      yield ['sleeps', update({ ...failed, time }, index, { sleptMs: process.sleptMs + sleepMs })];
    }
    if (kinds.includes('restart') && process.flights > 0)
      yield ['restarts', update(failed, index, restartedProcess(process))];
  }

  return moves;
}
