import { decoded } from '../../../packages/core/src/record/store-calls.ts';
import { recordWithSpent } from '../../../packages/core/src/record/stored-record.ts';
import type { TimedFault } from './faults.ts';
import type { Fleet } from './fleet.ts';
import { countsForMs } from './judge/numbers.ts';
import { day, hour, minute } from './judge/units.ts';
import type { Network } from './network.ts';
import type { Run } from './parts.ts';
import type { Random } from './random.ts';
import { windowsOf } from './settings.ts';
import { type Broken, working } from './token-endpoint.ts';

/** What a timed fault can change. */
export interface Reachable extends Run {
  readonly fleet: Fleet;
  readonly network: Network;
  readonly exchange: (() => boolean) | undefined;
}

const year = 365 * day;

/** Schedules all timed faults until they end; what lasts longer is ended by {@link endFaults}. */
export function scheduleFaults(reachable: Reachable): void {
  const { world, dice, settings } = reachable;
  const shared = sharedBy(reachable);
  const mayHappen = conditions(shared);
  // Each kind draws in this order, so kept plans stay as they are.
  const kinds = [ofProcesses, ofConnections, ofClocks, ofStores, ofTokens].map((happenings) => happenings(shared));
  for (const [fault, happen] of Object.entries(Object.assign({}, ...kinds) as Required<Happenings>)) {
    schedule(fault as TimedFault, happen);
  }

  function schedule(fault: TimedFault, happen: (random: Random) => void): void {
    const delayMs = dice.nextIn(fault);
    if (delayMs === undefined || world.now + delayMs > settings.faultsForMs) return;
    world.at(world.now + delayMs, () => {
      if (mayHappen[fault]?.() !== false && dice.strike(fault)) happen(dice.of(fault));
      schedule(fault, happen);
    });
  }
}

/** Everything works from now on. */
export function endFaults({ world, dice, network, store }: Reachable): void {
  dice.stop();
  Object.assign(network.broken, working);
  if (store.isSplit) store.heal('left');
  world.note('faults end');
}

/** What each fault does, once it is known that it happens. */
type Happenings = Partial<Record<TimedFault, (random: Random) => void>>;

/** What the faults of one run have in common. */
interface Shared extends Reachable {
  /** A window, in days. */
  readonly scale: number;
  /** For how long an entry may count. */
  readonly memoryMs: number;
  /** When the store lost something; without end while it does. */
  readonly losses: number[];
  /** No process of the fleet goes on when the clock of the store leaps. */
  readonly isForgotten: boolean;
  someone(random: Random): Fleet['members'][number];
  killAll(): void;
  /** A part of the network is broken for a while. */
  during(random: Random, maxMs: number, change: Partial<Broken>): void;
}

function sharedBy(reachable: Reachable): Shared {
  const { world, settings, fleet, network } = reachable;
  const scale = settings.windowMs / day;
  return {
    ...reachable,
    scale,
    memoryMs: countsForMs(Math.max(...windowsOf(settings)), true),
    losses: [],
    isForgotten: (settings.rates.crash ?? 0) > 0,
    someone: (random) => fleet.members[random.integer(0, fleet.members.length - 1)] as Fleet['members'][number],
    killAll() {
      for (const index of fleet.members.keys()) fleet.replace(index, 'crash');
    },
    during(random, maxMs, change) {
      Object.assign(network.broken, change);
      const mended = Object.keys(change).map((part) => [part, working[part as keyof typeof working]]);
      const mend = () => void Object.assign(network.broken, Object.fromEntries(mended));
      world.at(world.now + random.between(minute * scale, maxMs * scale), mend);
    },
  };
}

/** When a fault that is due may happen, if not always. */
function conditions(shared: Shared): Partial<Record<TimedFault, () => boolean>> {
  const { world, settings, fleet, network, store, exchange, losses, memoryMs, isForgotten } = shared;
  let leaptAt = Number.NEGATIVE_INFINITY;
  const mayLose = () =>
    losses.filter((at) => at > world.now - memoryMs).length < settings.lossesPerWindow && !store.isSplit;
  const maySay = () => !store.isSplit;
  return {
    store_clock_wild: mayLose,
    store_clock_set_back: mayLose,
    store_wiped: mayLose,
    store_restored: mayLose,
    store_regressed: mayLose,
    split_brain: mayLose,
    spent_said: maySay,
    spent_said_falsely: maySay,
    store_clock_set_right: () => store.clockOffset > 0,
    store_clock_leap() {
      // A process that reads the record for the first time cannot know.
      const areAllReaders = fleet.members.every(({ machine }) => network.readers.has(machine.name));
      const mayLeap = (isForgotten ? mayLose() : areAllReaders) && world.now >= leaptAt + memoryMs;
      if (mayLeap) leaptAt = world.now;
      return mayLeap;
    },
    tokens_exchanged: () => exchange?.() ?? false,
  };
}

function ofProcesses({ fleet, scale, someone }: Shared): Happenings {
  const any = (random: Random) => random.integer(0, fleet.members.length - 1);
  return {
    crash: (random) => fleet.replace(any(random), 'crash'),
    close: (random) => fleet.replace(any(random), 'close'),
    freeze(random) {
      const durationMs = random.chance(0.5) ? random.between(1, 90) * 1_000 : random.between(minute, 6 * hour) * scale;
      someone(random).machine.freeze(durationMs);
    },
    sleep(random) {
      const { machine } = someone(random);
      machine.sleep(random.chance(0.3) ? random.between(1, 90) * 1_000 : random.between(minute, 9 * hour));
    },
    sleep_long: (random) => someone(random).machine.sleep(random.between(31.05, 40) * day),
    wall_clock_step(random) {
      const { machine } = someone(random);
      machine.stepWall(Math.round(random.between(-1, 1) * random.pick([minute, hour, day, 10 * year])));
    },
    blocked: (random) => someone(random).machine.block(random.between(1, 30) * 1_000),
  };
}

function ofConnections({ someone, during }: Shared): Happenings {
  return {
    partition: (random) => during(random, 2 * hour, { cutOff: someone(random).machine.name }),
    store_outage: (random) => during(random, 2 * hour, { store: true }),
    endpoint_outage: (random) => during(random, 4 * hour, { endpoint: random.pick(['silent', 'failing']) }),
  };
}

function ofClocks({ world, settings, store, losses, isForgotten, killAll }: Shared): Happenings {
  const toleratedMs = Math.min(10 * minute, Math.min(...windowsOf(settings)) / 144);
  const stepIn = (ms: number, byMs: number) => world.at(world.now + ms, () => store.stepClock(byMs));
  return {
    store_clock_step(random) {
      // Within a band, so that no sum of steps is ever more than the tolerance.
      store.stepClock(random.between(-0.5, 0.5) * toleratedMs - store.clockOffset);
    },
    store_clock_wild(random) {
      losses.push(world.now);
      const byMs = random.between(-1, 1) * random.pick([hour, 5 * hour, day, 5 * day]);
      store.stepClock(byMs);
      if (random.chance(0.7)) stepIn(random.between(0, 5 * hour), -byMs);
    },
    store_clock_set_back(random) {
      const byMs = random.between(1, 6) * hour;
      losses.push(Number.POSITIVE_INFINITY);
      store.stepClock(-byMs);
      world.at(world.now + random.between(0, 6) * hour, () => {
        store.stepClock(byMs);
        losses[losses.length - 1] = world.now;
      });
    },
    store_clock_set_right(random) {
      store.stepClock(-store.clockOffset * (random.chance(0.6) ? 1 : random.next()));
    },
    store_clock_leap(random) {
      const byMs = random.between(0.2, 30) * hour;
      // Processes run through it, or nobody remembers anything.
      if (isForgotten) {
        losses.push(world.now);
        killAll();
      }
      store.stepClock(byMs);
      // Entries of a clock that leapt unseen are as old as they seem, also after it was put right.
      if (!isForgotten && random.chance(0.5)) stepIn(random.next() ** 2 * 30 * hour, -byMs);
    },
  };
}

function ofStores({ world, settings, store, losses, killAll, during }: Shared): Happenings {
  const goBack = (random: Random, furthest: readonly number[]) => store.regress(random.pick(furthest) * random.next());
  return {
    store_discards: (random) => during(random, 2 * hour, { discards: true }),
    store_wiped(random) {
      losses.push(world.now);
      store.wipe();
      // With all that anybody remembers, or without.
      if (settings.rates.crash && random.chance(0.5)) killAll();
    },
    store_restored(random) {
      losses.push(world.now);
      killAll();
      goBack(random, [minute, hour, 6 * hour, 30 * hour]);
    },
    store_regressed(random) {
      losses.push(world.now);
      goBack(random, [1_000, minute, hour, 6 * hour, 30 * hour]);
    },
    split_brain(random) {
      losses.push(Number.POSITIVE_INFINITY);
      store.split();
      world.at(world.now + random.between(minute, 10 * hour), () => {
        if (!store.isSplit) return;
        store.heal(random.pick(['left', 'right']));
        losses[losses.length - 1] = world.now;
      });
    },
  };
}

function ofTokens({ world, dice, settings, fleet, store, service, scale, memoryMs, someone }: Shared): Happenings {
  /** Somebody who knows what the service issued says how many of these tokens the record has not seen, or a smaller number. */
  function say(tooFewBy: number): void {
    const { record } = store.kept('left') ?? {};
    const known = record === undefined ? undefined : decoded(record);
    if (typeof known === 'string') return;
    const seen = (known?.spent ?? []).filter(({ issuedAt, reason }) => {
      return reason !== 'stated' && issuedAt !== undefined && issuedAt > store.now() - settings.windowMs;
    });
    const count = Math.max(0, service.issuedSince(world.now - memoryMs) - seen.length - tooFewBy);
    const told = { count, instance: 'somebody', reason: 'counted by the service', now: store.now() };
    const next = recordWithSpent(record, told, settings);
    dice.count(next === undefined ? 'word that the record knew' : 'word that the record took');
    if (next !== undefined) store.replace(next);
  }
  return {
    spent_said: () => say(0),
    spent_said_falsely: () => say(settings.saidFalselyBy ?? 0),
    tokens_exchanged() {},
    reset(random) {
      const { machine, clients } = someone(random);
      machine.deliver(() => void random.pick(clients).reset());
    },
    reset_by_all(random) {
      const which = random.integer(0, settings.audiences.length - 1);
      const share = random.pick([0.3, 1]);
      const withinMs = random.pick([0, 1_000, 10_000]);
      const alarm = () => {
        for (const { machine, clients } of fleet.members) {
          const client = clients[which];
          if (!client || !random.chance(share)) continue;
          const handle = () => void client.reset().then(() => client.call());
          world.at(world.now + random.next() * withinMs, () => machine.deliver(handle));
        }
      };
      alarm();
      // The next token leaks, too.
      if (random.chance(0.5)) world.at(world.now + random.between(1, 90) * 1_000, alarm);
    },
    retry_ordered(random) {
      const { machine, clients } = someone(random);
      machine.deliver(() => random.pick(clients).retryNow());
    },
    revoked: () => service.revokeAll(),
    secret_rotated(random) {
      fleet.secret = `CANARY-secret-${Math.round(world.now)}`;
      service.rotate(fleet.secret, 3 * hour * scale);
      for (const index of fleet.members.keys()) {
        world.at(world.now + random.between(0, 3) * hour * scale, () => fleet.giveSecret(index));
      }
    },
  };
}
