import { createUsageReader, type ServiceAuthEvent } from '@service-auth/core';
import { recordWithSpent } from '@service-auth/core/record';
import { seedGlobals } from '../../../tests/protocol/src/globals.ts';
import { createMachine } from '../../../tests/protocol/src/machine.ts';
import { createRandom, type Random } from '../../../tests/protocol/src/random.ts';
import { createSimulatedStore } from '../../../tests/protocol/src/simulated-store.ts';
import { createWorld } from '../../../tests/protocol/src/world.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { planIncidents } from './incidents.ts';
import type { FleetPicture, LogEntry, Picture, ProcessPicture, Slot } from './picture.ts';
import { authUrl, type Network, withCore, withNaiveClient } from './programs.ts';
import { createProvider, type Provider, type Window } from './provider.ts';
import type { Incident, Settings } from './settings.ts';

/** A day of two fleets, which live through the same: one with core, and one with the naive client. */
export interface Day {
  /** Lets the time go on up to `time`, in milliseconds since midnight. */
  runUntil(time: number): Promise<void>;
  /** Lets something happen, at a later second of the day. */
  add(incident: Incident): void;
  picture(): Promise<Picture>;
  /** Gives the globals back that the day replaced: the randomness, the time and the cryptography. */
  end(): void;
}

const second = 1_000;
const durability = 'replicated';
const minute = 60 * second;
const hour = 60 * minute;
const dayMs = 24 * hour;
const maxEvents = 10_000_000;
const quickMs = 200;
const slowMs = 20 * second;
const lostMs = 10 * second;
const maxLog = 12;
const quietTypes: ReadonlySet<string> = new Set(['agreement_differs', 'store_warning']);

const seeded = (random: Random) =>
  seedGlobals(
    random,
    () => false,
    () => 0,
  );

/** Creates a day that has not begun. */
export function createDay(settings: Settings): Day {
  const random = createRandom(`day ${settings.seed}`);
  const restore = seeded(random.fork('core'));
  const exhausted = () => {
    throw new Error('The day has too many events.');
  };
  const world = createWorld(exhausted, undefined, maxEvents);
  const limit = limitOf(settings);
  const windows = windowsOf(settings, limit);
  const network: Network = { answerMs: quickMs, storeIsDown: false };
  const store = createSimulatedStore(world, 0, () => {});
  const lifeMs = settings.life * hour;
  const providers = { ours: createProvider(world, windows, lifeMs), naive: createProvider(world, windows, lifeMs) };
  // The client is new, so somebody said `service-auth record spent 0`.
  const told = { count: 0, instance: 'somebody', reason: 'a new client', now: store.now(), issuanceLimit: { windows } };
  store.replace(recordWithSpent(undefined, told, { durability }) ?? '');
  let log: LogEntry[] = [];
  let adopted = 0;
  const heard = ({ type, instance, ...fields }: ServiceAuthEvent) => {
    if (type === 'token_adopted') adopted += 1;
    if (quietTypes.has(type)) return;
    const reason = 'reason' in fields ? fields.reason : undefined;
    log = [{ at: world.now, process: instance, type, reason }, ...log].slice(0, maxLog);
  };
  const core = withCore(world, network, providers.ours, store, { windows }, heard);
  const ours = createFleet(world, random.fork('calls'), settings.processes, core);
  const naiveClient = withNaiveClient(world, network, providers.naive);
  const naive = createFleet(world, random.fork('calls'), settings.processes, naiveClient);
  const observer = createMachine(world, 'observer', 0);
  const reader = createUsageReader({
    authUrl,
    clientId: 'client',
    issuanceLimit: { windows },
    clock: observer.clock,
    store: {
      durability,
      load: async () => store.load('left'),
      swap: () => Promise.reject(new Error('A reader writes nothing.')),
    },
  });

  const incidents = planIncidents(world, random, settings, [ours, naive], {
    rejectAll(on) {
      for (const provider of Object.values(providers)) provider.rejectsAll = on;
    },
    slowDown(on) {
      network.answerMs = on ? slowMs : quickMs;
    },
    failOver(on) {
      network.storeIsDown = on;
      if (on) store.regress(lostMs);
    },
  });

  return {
    runUntil: (time) => incidents.runUntil(Math.min(time, dayMs)),
    add: incidents.add,
    async picture() {
      // What is drawn to read the record must not change the day.
      const restoreDay = seeded(createRandom('reader'));
      try {
        const usage = await reader.getUsage();
        const { used, usable } = usage.windows.find(({ windowMs }) => windowMs === limit.windowMs) ?? usage;
        return {
          now: world.now,
          limit: settings.limit,
          ours: { ...fleetPicture(ours, providers.ours, limit, world.now), counted: used, usable, adopted },
          naive: fleetPicture(naive, providers.naive, limit, world.now),
          log,
          incidents: [...incidents.happened],
        };
      } finally {
        restoreDay();
      }
    },
    end: restore,
  };
}

function limitOf({ limit, window, requests }: Settings): Window {
  return { tokens: limit, windowMs: window * minute, counts: requests === 1 ? 'requests' : 'tokens' };
}

function windowsOf({ hourly }: Settings, limit: Window): Window[] {
  return hourly > 0 && limit.windowMs > hour ? [{ ...limit, tokens: hourly, windowMs: hour }, limit] : [limit];
}

function fleetPicture(fleet: Fleet, provider: Provider, limit: Window, now: number): FleetPicture {
  const { service, rejected, refused, refusedAt, lockedOutAt } = provider;
  const inMemory = new Set(fleet.members.map(({ token }) => token));
  const inWindow = service.issued.filter(({ issuedAt }) => issuedAt > now - limit.windowMs);
  const slots = inWindow.map(({ value, issuedAt, expiresAt, machine }): Slot => {
    const unused = rejected.has(value) ? 'rejected' : now >= expiresAt ? 'expired' : 'left';
    return { at: issuedAt, process: machine, state: inMemory.has(value) ? 'used' : unused };
  });
  const processes = fleet.members.map(({ state, token, machine }): ProcessPicture => {
    if (token === undefined) return { state, token };
    return { state, token: service.token(token)?.machine === machine.name ? 'requested' : 'adopted' };
  });
  const { answered, failed } = fleet;
  const issuedAt = service.issued.map((token) => token.issuedAt);
  const counts = { slots, spent: provider.countIn(limit), issuedAt, rejected: rejected.size, refused };
  return { ...counts, processes, refusedAt, lockedOutAt, answered, failed };
}
