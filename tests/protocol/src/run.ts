import { isServiceAuthError } from '@service-auth/core';
import { createCalendars } from './calendars.ts';
import { createExchanges } from './exchanges.ts';
import { createDice, type Reduction } from './faults.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { seedGlobals } from './globals.ts';
import { createJudge, type Judge } from './judge/judge.ts';
import { hour, minute } from './judge/units.ts';
import { modes } from './modes.ts';
import { createNetwork } from './network.ts';
import type { CreateServiceAuth, Run } from './parts.ts';
import { createProvider } from './provider.ts';
import { createRandom } from './random.ts';
import { createService, credentials, type Service } from './service.ts';
import { drawn, phaseAt, type Settings, windowsOf } from './settings.ts';
import { createSimulatedStore, type SimulatedStore } from './simulated-store.ts';
import { endFaults, scheduleFaults } from './timed-faults.ts';
import type { Broken } from './token-endpoint.ts';
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

/** Runs one plan. `print`: receives the trace. */
export async function run(
  plan: Plan,
  createServiceAuth: CreateServiceAuth,
  print?: (line: string) => void,
): Promise<Report> {
  const prepared = prepare(plan, createServiceAuth, print);
  const { random, settings, world, dice, judge, service } = prepared;
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
    await live(prepared, plan);
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

function prepare(plan: Plan, createServiceAuth: CreateServiceAuth, print?: (line: string) => void): Run {
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
  const world = createWorld(() => judge.exhausted(world.events), print);
  const dice = createDice(world, random.fork('faults'), settings.rates, settings.windowMs, plan);
  const judge: Judge = createJudge(
    world,
    settings,
    () => service,
    () => store,
    () => witness(),
    createCalendars(random.fork('calendars'), settings.faultsForMs),
  );
  const coarse = settings.clockIsCoarse ? random.fork('coarse clock') : undefined;
  const store: SimulatedStore = createSimulatedStore(world, settings.storeAheadMs, judge.applied, coarse);
  const lifetimeMs = () => phaseAt(settings, world.now).lifetimeMs ?? settings.lifetimeMs;
  const lengths = random.fork('lengths');
  const { maxPadding, repeatsToken } = settings;
  // Few tokens are long.
  const paddingOf = maxPadding ? () => '~'.repeat(Math.round(maxPadding * lengths.next() ** 4)) : undefined;
  const { clientSecret } = credentials;
  const service: Service = createService(world, clientSecret, lifetimeMs, judge.issued, paddingOf, repeatsToken);
  const prepared = { random, settings, world, dice, judge, store, service, createServiceAuth };
  const witness = createWitness(prepared);
  return prepared;
}

async function live(run: Run, { isMute }: Plan): Promise<void> {
  const { settings, world, dice, judge, service } = run;
  const { quota, failing, outage, dying, rates, faultsForMs } = settings;
  const provider = quota && createProvider(run, quota);
  const network = createNetwork(run, isMute ? undefined : provider);
  const fleet = createFleet(run, network);
  const reachable = { ...run, fleet, network, exchange: rates.tokens_exchanged ? createExchanges(run) : undefined };
  if (Object.keys(rates).length === 0) await stampede(world, fleet, judge);
  scheduleFaults(reachable);
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
  if (outage || dying || failing) await everyoneIsServed(run, fleet, withinMs(judge), () => false);
  if (settings.feasible) {
    const isSpared = judge.isSparing();
    const isSpent = (code: string) => code === 'ERR_ISSUANCE_LIMIT' || (isSpared && /^ERR_TOKEN/.test(code));
    await world.runUntil(Math.max(world.now, network.endpoint.toldToWaitUntil));
    await everyoneIsServed(run, fleet, servedWithinMs, isSpent);
  }
  // Late messages arrive, stopped processes continue, and the spent budget is forgotten.
  await world.runUntil(faultsForMs + Math.max(2.3 * Math.max(...windowsOf(settings)), 6 * hour));
  // If the first of these calls finds that the store lost the record, the record is new, and may spend little.
  const losses = () => dice.counts.get('event ledger_lost') ?? 0;
  const lossesBefore = losses();
  await everyoneIsServed(run, fleet, servedWithinMs, (code) => {
    return code === 'ERR_ISSUANCE_LIMIT' && losses() > lossesBefore;
  });
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
  { world, store, judge }: Run,
  fleet: Fleet,
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
