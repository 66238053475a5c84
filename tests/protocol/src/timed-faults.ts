import { decoded } from '../../../packages/core/src/record/store-calls.ts';
import { recordWithSpent } from '../../../packages/core/src/record/stored-record.ts';
import type { Exchanges } from './exchanges.ts';
import type { Dice, TimedFault } from './faults.ts';
import type { Fleet } from './fleet.ts';
import { day, hour, minute } from './judge/units.ts';
import { type Broken, type Network, working } from './network.ts';
import type { Service } from './service.ts';
import { type Settings, windowsOf } from './settings.ts';
import type { SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

/** The parts of a run that a timed fault can change. */
export interface Reachable {
  readonly world: World;
  readonly dice: Dice;
  readonly settings: Settings;
  readonly fleet: Fleet;
  readonly network: Network;
  readonly store: SimulatedStore;
  readonly service: Service;
  readonly exchanges: Exchanges | undefined;
}

const year = 365 * day;

/** Schedules all timed faults until `until`; what lasts longer is ended by {@link endFaults}. */
export function scheduleFaults(reachable: Reachable, until: number): void {
  const { world, dice } = reachable;
  for (const [fault, happen] of Object.entries(happenings(reachable)) as [TimedFault, () => boolean | undefined][]) {
    const next = () => {
      const delayMs = dice.nextIn(fault);
      if (delayMs === undefined || world.now + delayMs > until) return;
      world.at(world.now + delayMs, () => {
        happen();
        next();
      });
    };
    next();
  }
}

/** Everything works from now on. */
export function endFaults({ world, dice, network, store }: Reachable): void {
  dice.stop();
  Object.assign(network.broken, working);
  if (store.isSplit) store.heal('left');
  world.note('faults end');
}

type Happenings = Partial<Record<TimedFault, () => void>>;

/** What the faults of one run have in common. */
interface Shared extends Reachable {
  /** A window, in days. */
  readonly scale: number;
  /** For how long an entry may count. */
  readonly memoryMs: number;
  /** When the store lost something; without end while it does. */
  readonly losses: number[];
  mayLose(): boolean;
  someone(fault: TimedFault): Fleet['members'][number];
  killAll(): void;
  /** A part of the network is broken for a while. */
  during(fault: TimedFault, maxMs: number, broken: () => Partial<Broken>): void;
}

/** Each kind draws in this order, so kept plans stay as they are. */
function happenings(reachable: Reachable): Happenings {
  const shared = sharedBy(reachable);
  return {
    ...ofProcesses(shared),
    ...ofConnections(shared),
    ...ofClocks(shared),
    ...ofStores(shared),
    ...ofTokens(shared),
  };
}

function sharedBy(reachable: Reachable): Shared {
  const { world, dice, settings, fleet, network, store } = reachable;
  const scale = settings.windowMs / day;
  const longestMs = Math.max(...windowsOf(settings));
  const memoryMs =
    longestMs + Math.min(hour, longestMs / 24) + Math.min(2 * hour, Math.max(7 * minute, longestMs / 12));
  const losses: number[] = [];
  return {
    ...reachable,
    scale,
    memoryMs,
    losses,
    mayLose: () => losses.filter((at) => at > world.now - memoryMs).length < settings.lossesPerWindow && !store.isSplit,
    someone: (fault) => fleet.members[dice.of(fault).integer(0, fleet.members.length - 1)] as Fleet['members'][number],
    killAll() {
      for (const index of fleet.members.keys()) fleet.replace(index, 'crash');
    },
    during(fault, maxMs, broken) {
      if (!dice.strike(fault)) return;
      const change = broken();
      Object.assign(network.broken, change);
      const mended = Object.keys(change).map((part) => [part, working[part as keyof typeof working]]);
      const mend = () => void Object.assign(network.broken, Object.fromEntries(mended));
      world.at(world.now + dice.of(fault).between(minute * scale, maxMs * scale), mend);
    },
  };
}

function ofProcesses({ dice, fleet, scale, someone }: Shared): Happenings {
  const replaced = (how: 'crash' | 'close') => {
    if (dice.strike(how)) fleet.replace(dice.of(how).integer(0, fleet.members.length - 1), how);
  };
  return {
    crash: () => replaced('crash'),
    close: () => replaced('close'),
    freeze() {
      if (!dice.strike('freeze')) return;
      const random = dice.of('freeze');
      const durationMs = random.chance(0.5) ? random.between(1, 90) * 1_000 : random.between(minute, 6 * hour) * scale;
      someone('freeze').machine.freeze(durationMs);
    },
    sleep() {
      if (!dice.strike('sleep')) return;
      const random = dice.of('sleep');
      someone('sleep').machine.sleep(
        random.chance(0.3) ? random.between(1, 90) * 1_000 : random.between(minute, 9 * hour),
      );
    },
    sleep_long() {
      if (!dice.strike('sleep_long')) return;
      someone('sleep_long').machine.sleep(dice.of('sleep_long').between(31.05, 40) * day);
    },
    wall_clock_step() {
      if (!dice.strike('wall_clock_step')) return;
      const random = dice.of('wall_clock_step');
      someone('wall_clock_step').machine.stepWall(
        Math.round(random.between(-1, 1) * random.pick([minute, hour, day, 10 * year])),
      );
    },
    blocked() {
      if (dice.strike('blocked')) someone('blocked').machine.block(dice.of('blocked').between(1, 30) * 1_000);
    },
  };
}

function ofConnections({ dice, someone, during }: Shared): Happenings {
  return {
    partition: () => during('partition', 2 * hour, () => ({ cutOff: someone('partition').machine.name })),
    store_outage: () => during('store_outage', 2 * hour, () => ({ store: true })),
    endpoint_outage: () =>
      during('endpoint_outage', 4 * hour, () => ({ endpoint: dice.of('endpoint_outage').pick(['silent', 'failing']) })),
  };
}

function ofClocks({
  world,
  dice,
  settings,
  fleet,
  network,
  store,
  memoryMs,
  losses,
  mayLose,
  killAll,
}: Shared): Happenings {
  const toleratedMs = Math.min(10 * minute, Math.min(...windowsOf(settings)) / 144);
  let leaptAt = Number.NEGATIVE_INFINITY;
  return {
    store_clock_step() {
      if (!dice.strike('store_clock_step')) return;
      // Within a band, so that no sum of steps is ever more than the tolerance.
      const wanted = dice.of('store_clock_step').between(-0.5, 0.5) * toleratedMs;
      store.stepClock(wanted - store.clockOffset);
    },
    store_clock_wild() {
      if (!mayLose() || !dice.strike('store_clock_wild')) return;
      losses.push(world.now);
      const random = dice.of('store_clock_wild');
      const byMs = random.between(-1, 1) * random.pick([hour, 5 * hour, day, 5 * day]);
      store.stepClock(byMs);
      if (random.chance(0.7)) world.at(world.now + random.between(0, 5 * hour), () => store.stepClock(-byMs));
    },
    store_clock_set_back() {
      if (!mayLose() || !dice.strike('store_clock_set_back')) return;
      const random = dice.of('store_clock_set_back');
      const byMs = random.between(1, 6) * hour;
      losses.push(Number.POSITIVE_INFINITY);
      store.stepClock(-byMs);
      world.at(world.now + random.between(0, 6) * hour, () => {
        store.stepClock(byMs);
        losses[losses.length - 1] = world.now;
      });
    },
    store_clock_set_right() {
      if (store.clockOffset <= 0 || !dice.strike('store_clock_set_right')) return;
      const random = dice.of('store_clock_set_right');
      store.stepClock(-store.clockOffset * (random.chance(0.6) ? 1 : random.next()));
    },
    store_clock_leap() {
      const isForgotten = (settings.rates.crash ?? 0) > 0;
      // A process that reads the record for the first time cannot know.
      if (!isForgotten && fleet.members.some(({ machine }) => !network.readers.has(machine.name))) return;
      if ((isForgotten && !mayLose()) || world.now < leaptAt + memoryMs || !dice.strike('store_clock_leap')) return;
      leaptAt = world.now;
      const random = dice.of('store_clock_leap');
      const byMs = random.between(0.2, 30) * hour;
      // Processes run through it, or nobody remembers anything.
      if (isForgotten) {
        losses.push(world.now);
        killAll();
      }
      store.stepClock(byMs);
      // Entries of a clock that leapt unseen are as old as they seem, also after it was put right.
      if (!isForgotten && random.chance(0.5))
        world.at(world.now + random.next() ** 2 * 30 * hour, () => store.stepClock(-byMs));
    },
  };
}

function ofStores({ world, dice, settings, store, losses, mayLose, killAll, during }: Shared): Happenings {
  return {
    store_discards: () => during('store_discards', 2 * hour, () => ({ discards: true })),
    store_wiped() {
      if (!mayLose() || !dice.strike('store_wiped')) return;
      losses.push(world.now);
      store.wipe();
      // With all that anybody remembers, or without.
      if (settings.rates.crash && dice.of('store_wiped').chance(0.5)) killAll();
    },
    store_restored() {
      if (!mayLose() || !dice.strike('store_restored')) return;
      losses.push(world.now);
      killAll();
      const random = dice.of('store_restored');
      store.regress(random.pick([minute, hour, 6 * hour, 30 * hour]) * random.next());
    },
    store_regressed() {
      if (!mayLose() || !dice.strike('store_regressed')) return;
      losses.push(world.now);
      const random = dice.of('store_regressed');
      store.regress(random.pick([1_000, minute, hour, 6 * hour, 30 * hour]) * random.next());
    },
    split_brain() {
      if (!mayLose() || !dice.strike('split_brain')) return;
      const random = dice.of('split_brain');
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

function ofTokens({
  world,
  dice,
  settings,
  fleet,
  store,
  service,
  exchanges,
  scale,
  memoryMs,
  someone,
}: Shared): Happenings {
  /** Somebody who knows what the service issued says how many of these tokens the record has not seen, or a smaller number. */
  function say(fault: TimedFault, tooFewBy: number): void {
    if (store.isSplit || !dice.strike(fault)) return;
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
    spent_said: () => say('spent_said', 0),
    spent_said_falsely: () => say('spent_said_falsely', settings.saidFalselyBy ?? 0),
    tokens_exchanged() {
      if (exchanges?.exchange()) dice.strike('tokens_exchanged');
    },
    reset() {
      if (!dice.strike('reset')) return;
      const { machine, clients } = someone('reset');
      machine.deliver(() => void dice.of('reset').pick(clients).reset());
    },
    reset_by_all() {
      if (!dice.strike('reset_by_all')) return;
      const random = dice.of('reset_by_all');
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
    retry_ordered() {
      if (!dice.strike('retry_ordered')) return;
      const { machine, clients } = someone('retry_ordered');
      machine.deliver(() => dice.of('retry_ordered').pick(clients).retryNow());
    },
    revoked() {
      if (dice.strike('revoked')) service.revokeAll();
    },
    secret_rotated() {
      if (!dice.strike('secret_rotated')) return;
      const random = dice.of('secret_rotated');
      fleet.secret = `CANARY-secret-${Math.round(world.now)}`;
      service.rotate(fleet.secret, 3 * hour * scale);
      for (const index of fleet.members.keys()) {
        world.at(world.now + random.between(0, 3) * hour * scale, () => fleet.giveSecret(index));
      }
    },
  };
}
