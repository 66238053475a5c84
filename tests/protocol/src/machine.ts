import type { Process } from './judge/scene.ts';
import type { World } from './world.ts';

/** A process on a machine of its own: it can stand still, sleep and die, and its clocks are its own. */
export interface Machine extends Process {
  /** Runs `event` once the machine runs: later if it stands still, never if it is dead. */
  deliver(event: () => void): void;
  /** Stops the process, like SIGSTOP: its clocks go on. */
  freeze(durationMs: number): void;
  /** The event loop stands still: its timers fall due meanwhile and fire before it reads any answer. */
  block(durationMs: number): void;
  /** Suspends the machine: its monotonic clock stands still, its wall clock goes on. */
  sleep(durationMs: number): void;
  stepWall(byMs: number): void;
  kill(): void;
}

const epoch = 1_790_000_000_000;

/** Creates a running machine. `bootedMs`: what its monotonic clock shows now. */
export function createMachine(world: World, name: string, bootedMs: number): Machine {
  const origin = world.now - bootedMs;
  let blockedMs = 0;
  let sleptMs = 0;
  let sleep = { from: 0, durationMs: 0 };
  let wallOffset = 0;
  const asleepMs = () => sleptMs + Math.min(sleep.durationMs, world.now - sleep.from);
  const monotonic = () => world.now - origin - asleepMs();

  /** After standing still a process finds timers that are due and answers that have come: it depends on where it stood which of them it sees first. */
  function deliver(event: () => void, kind: 'timer' | 'answer' = 'answer'): void {
    if (!machine.alive) return;
    if (world.now >= machine.frozenUntil) return void event();
    const first = Math.floor(machine.frozenUntil) % 2 === 0 ? 'timer' : 'answer';
    world.at(machine.frozenUntil + (kind === first ? 0 : 0.125), () => deliver(event, kind));
  }

  function setTimer(callback: () => void, delayMs: number): () => void {
    if (!(delayMs >= 0 && delayMs <= 3_600_000)) throw new RangeError(`a timer of ${delayMs} ms`);
    const dueAt = monotonic() + delayMs;
    let cancelled = false;
    const arm = (): (() => void) =>
      world.at(world.now + dueAt - monotonic(), () =>
        deliver(() => {
          if (cancelled) return;
          if (monotonic() < dueAt) arm();
          else callback();
        }, 'timer'),
      );
    const cancelEvent = arm();
    return () => {
      cancelled = true;
      cancelEvent();
    };
  }

  const machine = {
    name,
    alive: true,
    frozenUntil: 0,
    get blockedMs() {
      return blockedMs - Math.max(0, machine.frozenUntil - world.now);
    },
    clock: { now: () => Math.floor(epoch + world.now + wallOffset), monotonic, setTimer },
    deliver,
    freeze(durationMs: number) {
      machine.frozenUntil = Math.max(machine.frozenUntil, world.now + durationMs);
    },
    block(durationMs: number) {
      // See `deliver`: an even instant lets timers come first.
      const until = Math.max(machine.frozenUntil, 2 * Math.ceil((world.now + durationMs) / 2));
      blockedMs += until - Math.max(machine.frozenUntil, world.now);
      machine.frozenUntil = until;
    },
    sleep(durationMs: number) {
      if (world.now < machine.frozenUntil) return;
      sleptMs = asleepMs();
      sleep = { from: world.now, durationMs };
      machine.frozenUntil = world.now + durationMs;
    },
    stepWall(byMs: number) {
      wallOffset += byMs;
      machine.wallSetAt[byMs > 0 ? 'forward' : 'back'] = world.now;
    },
    wallSetAt: { forward: Number.NEGATIVE_INFINITY, back: Number.NEGATIVE_INFINITY },
    kill() {
      machine.alive = false;
    },
  };
  return machine;
}
