import { isServiceAuthError, type ServiceAuth, type ServiceAuthOptions } from '@service-auth/core';
import { createCalendars } from './calendars.ts';
import type { Surroundings } from './client.ts';
import { createExchanges } from './exchanges.ts';
import { createDice, type Reduction } from './faults.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { seedGlobals } from './globals.ts';
import { createJudge, type Judge } from './judge/judge.ts';
import { day, hour, minute } from './judge/units.ts';
import { modes } from './modes.ts';
import { type Broken, createNetwork } from './network.ts';
import { createProvider } from './provider.ts';
import { createRandom } from './random.ts';
import { createService, credentials, type Service } from './service.ts';
import { drawn, phaseAt, type Settings, windowsOf } from './settings.ts';
import { createSimulatedStore, type SimulatedStore } from './simulated-store.ts';
import { endFaults, scheduleFaults } from './timed-faults.ts';
import { createWitness } from './witness.ts';
import { createWorld, type World } from './world.ts';

/** The plan of a run. The same plan gives the same run. */
export interface Plan extends Reduction {
  readonly mode: string;
  readonly seed: number;
  /** The provider says nothing of its count. */
  readonly isMute?: boolean | undefined;
  /** At most so many processes. */
  readonly processes?: number | undefined;
  /** At most so much of the time that faults would last. */
  readonly faultsForMs?: number | undefined;
}

export interface Report {
  readonly violations: readonly string[];
  readonly traceHash: string;
  readonly events: number;
  readonly virtualMs: number;
  readonly issued: number;
  readonly faults: number;
  readonly counts: ReadonlyMap<string, number>;
}

/** The code under test: core's, or a wrong client's. */
export type CreateServiceAuth = (options: ServiceAuthOptions) => ServiceAuth;

/** Runs one plan. `print`: receives the trace. */
export async function run(
  plan: Plan,
  createServiceAuth: CreateServiceAuth,
  print?: (line: string) => void,
): Promise<Report> {
  const mode = modes[plan.mode];
  if (!mode) throw new Error(`There is no mode ${plan.mode}.`);
  const random = createRandom(`${plan.mode} ${plan.seed}`);
  const drawing = random.fork('settings');
  const usual = drawn(drawing, mode.settings(drawing));
  const settings: Settings = {
    ...usual,
    processes: Math.min(usual.processes, plan.processes ?? usual.processes),
    faultsForMs: Math.min(usual.faultsForMs, plan.faultsForMs ?? usual.faultsForMs),
  };
  const scale = settings.windowMs / day;
  const world = createWorld(() => judge.exhausted(world.events), print);
  const dice = createDice(world, random.fork('faults'), settings.rates, settings.windowMs, plan);
  const judge: Judge = createJudge(
    world,
    settings,
    () => service,
    () => store,
    () => witness.ask(),
    createCalendars(random.fork('calendars'), settings.faultsForMs),
  );
  const store: SimulatedStore = createSimulatedStore(
    world,
    settings.storeAheadMs,
    judge.applied,
    settings.clockIsCoarse ? random.fork('coarse clock') : undefined,
  );
  const lifetimeMs = () => phaseAt(settings, world.now).lifetimeMs ?? settings.lifetimeMs;
  const lengths = random.fork('lengths');
  const { maxPadding } = settings;
  // Few tokens are long.
  const paddingOf = maxPadding ? () => '~'.repeat(Math.round(maxPadding * lengths.next() ** 4)) : undefined;
  const { repeatsToken } = settings;
  const { clientSecret } = credentials;
  const service: Service = createService(world, clientSecret, lifetimeMs, judge.issued, paddingOf, repeatsToken);
  const witness = createWitness(world, settings, store, judge, createServiceAuth, random.fork('trials'));
  const { quota, rejecting } = settings;
  const provider = quota
    ? createProvider(world, random.fork('provider'), service, quota, settings.faultsForMs, judge.quotaSaid)
    : undefined;
  const saying = { provider: plan.isMute ? undefined : provider };
  const network = createNetwork({ ...settings, ...saying, scale, world, dice, store, service, judge });
  const around: Surroundings = { world, dice, judge, service, rejecting, createServiceAuth };
  const unhandled = (error: unknown) => judge.unhandled(error);
  let draws = 0;
  const restoreGlobals = seedGlobals(
    random.fork('core'),
    () => dice.roll('random_repeated'),
    // Clones of one image never draw at exactly the same moment.
    () => (settings.rates.random_repeated ? world.now + draws++ / 1_024 : 0),
  );
  process.on('unhandledRejection', unhandled);
  try {
    const { faultsForMs } = settings;
    const fleet = createFleet(settings, random.fork('fleet'), network, around, faultsForMs);
    const exchanges = settings.rates.tokens_exchanged
      ? createExchanges(world, random.fork('exchanges'), createServiceAuth, settings.audiences, store)
      : undefined;
    const reachable = { world, dice, settings, fleet, network, store, service, exchanges };
    if (Object.keys(settings.rates).length === 0) await stampede(world, fleet, judge);
    scheduleFaults(reachable, faultsForMs);
    const { failing, outage, dying } = settings;
    const breakAt = (fromMs: number, change: Partial<Broken>) => {
      // A plan that was made smaller may end before the failures begin.
      if (fromMs < faultsForMs) world.at(fromMs, () => void Object.assign(network.broken, change));
    };
    if (failing) breakAt(failing.fromMs, { some: failing });
    if (outage) breakAt(outage.fromMs, { endpoint: outage.state });
    if (dying) {
      growRecord(world, fleet, service);
      scheduleDeaths(dying, faultsForMs, fleet, world);
    }
    await world.runUntil(faultsForMs);
    endFaults(reachable);
    judge.faultsEnded();
    if (outage || dying || failing) {
      await everyoneIsServed(world, fleet, store, judge, withinMs(judge), () => false);
    }
    if (settings.feasible) {
      const isSpared = judge.isSparing();
      const isSpent = (code: string) => code === 'ERR_ISSUANCE_LIMIT' || (isSpared && /^ERR_TOKEN/.test(code));
      await world.runUntil(Math.max(world.now, network.toldToWaitUntil));
      await everyoneIsServed(world, fleet, store, judge, servedWithinMs, isSpent);
    }
    // Late messages arrive, stopped processes continue, and the spent budget is forgotten.
    await world.runUntil(faultsForMs + Math.max(2.3 * Math.max(...windowsOf(settings)), 6 * hour));
    // If the first of these calls finds that the store lost the record, the record is new, and may spend little.
    const losses = () => dice.counts.get('event ledger_lost') ?? 0;
    const lossesBefore = losses();
    const isSparing = (code: string) => code === 'ERR_ISSUANCE_LIMIT' && losses() > lossesBefore;
    await everyoneIsServed(world, fleet, store, judge, servedWithinMs, isSparing);
    return {
      violations: judge.violations,
      traceHash: world.traceHash(),
      events: world.events,
      virtualMs: world.now,
      issued: service.issued.length,
      faults: dice.total,
      counts: dice.counts,
    };
  } finally {
    process.off('unhandledRejection', unhandled);
    restoreGlobals();
  }
}

const servedWithinMs = 20 * minute;

/** After the end of all faults everybody is served within this time. While the budget is spared, only time protects it. */
function withinMs(judge: Judge): number {
  return judge.isSparing() ? judge.sparedForMs() : servedWithinMs;
}

/** Processes begin one after another, ask for a token, and are killed. */
function scheduleDeaths(
  { fromMs, everyMs, livesMs }: NonNullable<Settings['dying']>,
  untilMs: number,
  fleet: Fleet,
  world: World,
): void {
  const next = () => {
    fleet.startMortal(livesMs);
    if (world.now + everyMs < untilMs) world.at(world.now + everyMs, next);
  };
  world.at(fromMs, next);
}

/** The record is about as old as the fleet, whatever the store does to the first calls. */
function growRecord(world: World, fleet: Fleet, service: Service): void {
  world.at(world.now, () => void fleet.members[0]?.clients[0]?.call());
  world.at(world.now + minute / 2, () => {
    if (service.issued.length === 0) growRecord(world, fleet, service);
  });
}

/** Liveness: nothing fails any more, so everybody gets a token, except callers that are denied because the budget is spent. */
async function everyoneIsServed(
  world: World,
  fleet: Fleet,
  store: SimulatedStore,
  judge: Judge,
  withinMs: number,
  isSpent: (code: string) => boolean,
): Promise<void> {
  const begunAt = world.now;
  const endsAt = begunAt + withinMs + Math.min(minute, store.clockSpreadMs);
  const waiting = new Map<string, string>();
  for (const { machine, clients } of fleet.members) {
    if (!machine.alive || machine.frozenUntil > begunAt) continue;
    for (const client of clients) {
      const name = `${machine.name} ${clients.indexOf(client)}`;
      waiting.set(name, 'no answer');
      const attempt = () =>
        machine.deliver(() => {
          void client.call().then((error) => {
            const isRefused = isServiceAuthError(error);
            const isFull = isRefused && error.code === 'ERR_STORE' && error.reason === 'full';
            if (error === undefined || isFull || (isRefused && isSpent(error.code))) waiting.delete(name);
            else waiting.set(name, String(error));
            const retryInMs = isRefused ? (error.retryAt ?? 0) - machine.clock.now() : 0;
            if (error !== undefined) world.at(world.now + Math.max(1_000, retryInMs), attempt);
          });
        });
      world.at(begunAt, attempt);
    }
  }
  await world.runUntil(endsAt);
  for (const [name, error] of waiting) judge.unserved(name, error);
}

/** All processes begin at once: one of them asks for a token. */
async function stampede(world: World, fleet: Fleet, judge: Judge): Promise<void> {
  for (const { clients } of fleet.members) for (const client of clients) world.at(world.now, () => void client.call());
  await world.runUntil(world.now + minute);
  judge.stampeded();
}
