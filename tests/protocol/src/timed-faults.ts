import { decoded } from '../../../packages/core/src/record/store-calls.ts';
import { recordWithSpent } from '../../../packages/core/src/record/stored-record.ts';
import type { Exchanges } from './exchanges.ts';
import type { Dice, TimedFault } from './faults.ts';
import type { Fleet } from './fleet.ts';
import { day, hour, minute } from './judge/units.ts';
import type { Network } from './network.ts';
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
  network.broken.store = false;
  network.broken.discards = false;
  network.broken.endpoint = 'up';
  network.broken.cutOff = undefined;
  network.broken.some = undefined;
  if (store.isSplit) store.heal('left');
  world.note('faults end');
}

function happenings({
  world,
  dice,
  settings,
  fleet,
  network,
  store,
  service,
  exchanges,
}: Reachable): Partial<Record<TimedFault, () => void>> {
  const { windowMs, lossesPerWindow } = settings;
  const scale = windowMs / day;
  const toleratedMs = Math.min(10 * minute, Math.min(...windowsOf(settings)) / 144);
  // As long as an entry may count.
  const longestMs = Math.max(...windowsOf(settings));
  const memoryMs =
    longestMs + Math.min(hour, longestMs / 24) + Math.min(2 * hour, Math.max(7 * minute, longestMs / 12));
  const losses: number[] = [];
  let leaptAt = Number.NEGATIVE_INFINITY;
  const mayLose = () => losses.filter((at) => at > world.now - memoryMs).length < lossesPerWindow && !store.isSplit;

  function someone(fault: TimedFault): { index: number; member: Fleet['members'][number] } {
    const index = dice.of(fault).integer(0, fleet.members.length - 1);
    return { index, member: fleet.members[index] as Fleet['members'][number] };
  }

  function killAll(): void {
    for (const index of fleet.members.keys()) fleet.replace(index, 'crash');
  }

  /** Somebody who knows what the service issued says how many of these tokens the record has not seen, or a smaller number. */
  function say(fault: TimedFault, tooFewBy: number): void {
    if (store.isSplit || !dice.strike(fault)) return;
    const { record } = store.kept('left') ?? {};
    const known = record === undefined ? undefined : decoded(record);
    if (typeof known === 'string') return;
    const seen = (known?.spent ?? []).filter(({ issuedAt, reason }) => {
      return reason !== 'stated' && issuedAt !== undefined && issuedAt > store.now() - windowMs;
    });
    const count = Math.max(0, service.issuedSince(world.now - memoryMs) - seen.length - tooFewBy);
    const told = { count, instance: 'somebody', reason: 'counted by the service', now: store.now() };
    const next = recordWithSpent(record, told, settings);
    dice.count(next === undefined ? 'word that the record knew' : 'word that the record took');
    if (next !== undefined) store.replace(next);
  }

  /** For a while, then not. */
  function during(fault: TimedFault, maxMs: number, begin: () => void, end: () => void): void {
    if (!dice.strike(fault)) return;
    begin();
    world.at(world.now + dice.of(fault).between(minute * scale, maxMs * scale), end);
  }

  return {
    crash: () => void (dice.strike('crash') && fleet.replace(someone('crash').index, 'crash')),
    close: () => void (dice.strike('close') && fleet.replace(someone('close').index, 'close')),
    freeze() {
      if (!dice.strike('freeze')) return;
      const random = dice.of('freeze');
      const durationMs = random.chance(0.5) ? random.between(1, 90) * 1_000 : random.between(minute, 6 * hour) * scale;
      someone('freeze').member.machine.freeze(durationMs);
    },
    sleep() {
      if (!dice.strike('sleep')) return;
      const random = dice.of('sleep');
      someone('sleep').member.machine.sleep(
        random.chance(0.3) ? random.between(1, 90) * 1_000 : random.between(minute, 9 * hour),
      );
    },
    sleep_long() {
      if (!dice.strike('sleep_long')) return;
      someone('sleep_long').member.machine.sleep(dice.of('sleep_long').between(31.05, 40) * day);
    },
    wall_clock_step() {
      if (!dice.strike('wall_clock_step')) return;
      const random = dice.of('wall_clock_step');
      someone('wall_clock_step').member.machine.stepWall(
        Math.round(random.between(-1, 1) * random.pick([minute, hour, day, 10 * year])),
      );
    },
    blocked() {
      if (dice.strike('blocked')) someone('blocked').member.machine.block(dice.of('blocked').between(1, 30) * 1_000);
    },
    partition: () =>
      during(
        'partition',
        2 * hour,
        () => {
          network.broken.cutOff = someone('partition').member.machine.name;
        },
        () => {
          network.broken.cutOff = undefined;
        },
      ),
    store_outage: () =>
      during(
        'store_outage',
        2 * hour,
        () => {
          network.broken.store = true;
        },
        () => {
          network.broken.store = false;
        },
      ),
    endpoint_outage: () =>
      during(
        'endpoint_outage',
        4 * hour,
        () => {
          network.broken.endpoint = dice.of('endpoint_outage').pick(['silent', 'failing']);
        },
        () => {
          network.broken.endpoint = 'up';
        },
      ),
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
    store_discards: () =>
      during(
        'store_discards',
        2 * hour,
        () => {
          network.broken.discards = true;
        },
        () => {
          network.broken.discards = false;
        },
      ),
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
    spent_said: () => say('spent_said', 0),
    spent_said_falsely: () => say('spent_said_falsely', settings.saidFalselyBy ?? 0),
    tokens_exchanged() {
      if (exchanges?.exchange()) dice.strike('tokens_exchanged');
    },
    reset() {
      if (!dice.strike('reset')) return;
      const { machine, clients } = someone('reset').member;
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
      const { machine, clients } = someone('retry_ordered').member;
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
