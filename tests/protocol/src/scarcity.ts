import { admission } from '../../../packages/core/src/ledger/admission.ts';
import { decodeRecord } from '../../../packages/core/src/ledger/codec.ts';
import { limitsFor } from '../../../packages/core/src/ledger/limits.ts';
import type { Surroundings } from './client.ts';
import type { Fleet } from './fleet.ts';
import type { Judge } from './judge.ts';
import type { Network } from './network.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';
import type { SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

const hour = 3_600_000;

/** The endpoint gets into this state, and stays in it until faults end. */
export function scheduleOutage(
  { fromMs, state }: NonNullable<Settings['outage']>,
  world: World,
  network: Network,
): void {
  world.at(fromMs, () => {
    network.broken.endpoint = state;
  });
}

/** Processes begin one after another, ask for a token, and are killed. */
export function scheduleDeaths(
  { fromMs, everyMs, livesMs }: NonNullable<Settings['dying']>,
  untilMs: number,
  fleet: Fleet,
  { world }: Surroundings,
): void {
  const next = () => {
    fleet.startMortal(livesMs);
    if (world.now + everyMs < untilMs) world.at(world.now + everyMs, next);
  };
  world.at(fromMs, next);
}

/** However long requests had an unknown outcome, they spent no more than half of what may be spent. */
export function budgetIsSpared(store: SimulatedStore, settings: Settings, world: World, judge: Judge): void {
  const { tokens, windowMs, reserve, durability } = settings;
  const limits = limitsFor([{ tokens, windowMs }], reserve, durability);
  const record = decodeRecord(store.kept('left')?.record ?? '');
  if (typeof record === 'string') {
    judge.violated('the record can be read', record);
    return;
  }
  for (const { pending, term } of admission(record, Math.max(record.highWaterAt, store.now()), limits, 'reset')) {
    world.note(`${pending} of ${term.usable} pending`);
    if (pending > term.usable / 2) judge.violated('half of the budget is left', `${pending} of ${term.usable} pending`);
  }
}

/** Processes that die have at most 25 tokens issued in three hours, and two more for each further audience, because their first deaths are counted as one. */
export function deathsArePaced(service: Service, { failing }: Settings, judge: Judge): void {
  const most = 23 + 2 * (failing?.audiences.length ?? 1);
  const issuedAt = service.issued
    .filter(({ audience }) => failing?.audiences.includes(audience) ?? true)
    .map((token) => token.issuedAt);
  const many = issuedAt.find((at, index) => (issuedAt[index + most] ?? Number.POSITIVE_INFINITY) - at < 3 * hour);
  if (many !== undefined) judge.violated('deaths are paced', `more than ${most} tokens in three hours`);
}
