import { createAgreements } from './agreements.ts';
import { createHands } from './hands.ts';
import { createOrders } from './orders.ts';
import type { Scene } from './promised.ts';
import { promises, wordsOf } from './promises.ts';
import { createResets } from './resets.ts';
import type { Calendar, Circumstances, Issuer, KeptStore, Time } from './scene.ts';
import type { Sights } from './sights.ts';
import { createStandstills } from './standstills.ts';
import { createUsages } from './usages.ts';

/** Watches a run from outside and says what was promised and not kept. */
export interface Judge extends Sights {
  readonly violations: readonly string[];
  /** True if any process was handed this token. */
  wasHandedOut(value: string): boolean;
  /** A quarter of what may be issued is of unknown outcome, so the rest is spared. */
  isSparing(): boolean;
  sparedForMs(): number;
}

/** Creates the judge of one run. `ask`: has it told what `getUsage()` says now, when all that happens at this instant has happened. */
export function createJudge(
  world: Time,
  settings: Circumstances,
  service: () => Issuer,
  store: () => KeptStore,
  ask: () => void,
  calendars: readonly Calendar[],
): Judge {
  const violations: string[] = [];
  const had = new Set<string>();
  const { rates, lossesPerWindow, timeoutMs = 30_000 } = settings;
  const resets = createResets(world);
  const hands = createHands(world, store, resets);
  const remembered = {
    agreements: createAgreements(world, settings),
    hands,
    orders: createOrders(world),
    resets,
    standstills: createStandstills(settings),
    usages: createUsages(world, settings, store, ask),
  };
  const isStoreSafe = lossesPerWindow === 0 && !rates.store_clock_wild && !rates.store_clock_set_back;
  const facts = { ...remembered, isStoreSafe, leaseMs: 30_000 + timeoutMs };
  const scene: Scene = { world, settings, service, store, calendars, facts };
  const watches: readonly Partial<Sights>[] = [
    ...Object.values(remembered).map(({ sights }) => sights),
    ...Object.values(promises)
      .flat()
      .map((promise) =>
        promise(scene, (detail) => {
          const violation = `${wordsOf(promise)}: ${detail}`;
          violations.push(violation);
          world.note(`VIOLATION ${violation}`);
        }),
      ),
  ];
  const own: Pick<Judge, 'violations' | 'wasHandedOut' | 'isSparing' | 'sparedForMs' | 'served'> = {
    violations,
    wasHandedOut: (value) => had.has(value),
    isSparing: remembered.usages.isSparing,
    sparedForMs: remembered.usages.sparedForMs,
    served(call, token, known) {
      if (hands.mayBeWrong(call)) return;
      had.add(token.value);
      for (const watch of watches) watch.served?.(call, token, known);
    },
  };
  return new Proxy(own as Judge, {
    get: (judge, name: keyof Sights) => judge[name] ?? Object.assign(judge, { [name]: toAll(watches, name) })[name],
  });
}

/** Tells all who watch for it what was seen. */
function toAll<Name extends keyof Sights>(watches: readonly Partial<Sights>[], name: Name): Sights[Name] {
  const watching = watches.filter((watch) => watch[name] !== undefined) as Record<Name, (...seen: unknown[]) => void>[];
  return ((...seen: unknown[]) => {
    for (const watch of watching) watch[name](...seen);
  }) as Sights[Name];
}
