import type { StoreChange, StoreSnapshot, StoreSwapResult } from '@service-auth/core';
import type { KeptStore } from './judge/scene.ts';
import { second } from './judge/units.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** The record under the one key of a run. */
interface Kept {
  readonly record: string;
  readonly version: string;
}

/** The two halves of a split store; without a split everybody is on the left one. */
export type Side = 'left' | 'right';

/** A store that keeps its promises until it is told to break them. Calls are executed at once; the network is elsewhere. */
export interface SimulatedStore extends KeptStore {
  load(side: Side): StoreSnapshot;
  swap(side: Side, change: StoreChange): StoreSwapResult;
  kept(side: Side): Kept | undefined;
  /** Somebody else writes a record. */
  replace(record: string): void;
  stepClock(byMs: number): void;
  /** The lead of its clock over true time, compared with the start. */
  readonly clockOffset: number;
  wipe(): void;
  /** Goes back to what it was some time ago. */
  regress(ageMs: number): void;
  readonly isSplit: boolean;
  split(): void;
  /** The stack of the other side is lost. */
  heal(survivor: Side): void;
}

const epoch = 1_780_000_000_000;
const readsToNotice = 4;
const maxJitterMs = 500;

/**
 * Creates an empty store. `applied`: called after every change. `coarse`: its clock is that of the answers of HTTP servers: whole seconds, cut off,
 * of servers that differ by up to half a second in both directions.
 */
export function createSimulatedStore(
  world: World,
  aheadMs = 0,
  applied: (record: string) => void = () => {},
  coarse?: Random,
): SimulatedStore {
  let sides: Record<Side, Kept | undefined> = { left: undefined, right: undefined };
  let [minOffset, maxOffset] = [aheadMs, aheadMs];
  let reads = 0;
  // The latest instant that its clock showed to somebody who wrote.
  let shownUpTo = 0;
  let back = { ms: 0, noticedAt: Number.POSITIVE_INFINITY };
  let lostAt = Number.NEGATIVE_INFINITY;
  let history: { at: number; kept: Kept | undefined }[] = [{ at: 0, kept: undefined }];
  const effective = (side: Side): Side => (store.isSplit ? side : 'left');
  const shown = () => {
    if (!coarse) return store.now();
    const ofAServer = store.now() + coarse.between(-maxJitterMs, maxJitterMs);
    return Math.floor(ofAServer / second) * second;
  };

  const isBehind = () => shownUpTo > store.now() + 60_000;

  function noticed(): void {
    reads = 0;
    if (back.noticedAt === Number.POSITIVE_INFINITY) back = { ...back, noticedAt: world.now };
  }

  function set(side: Side, kept: Kept | undefined): void {
    sides = { ...sides, [side]: kept };
    if (side === 'left') history.push({ at: world.now, kept });
    if (history.length > 2_000) history = history.slice(-1_000);
  }

  const store = {
    clockOffset: aheadMs,
    setBackAt: Number.NEGATIVE_INFINITY,
    isSplit: false,
    now: () => Math.floor(epoch + world.now + store.clockOffset),
    get clockSpreadMs() {
      return maxOffset - minOffset + (coarse ? second + 2 * maxJitterMs : 0);
    },
    get unnoticedMs() {
      // A process with a cached token reads this within half a minute.
      return world.now > back.noticedAt + 35_000 ? 0 : back.ms;
    },
    get lostAt() {
      return store.isSplit ? Number.POSITIVE_INFINITY : lostAt;
    },
    load(side: Side) {
      const kept = sides[effective(side)];
      if (back.ms > 0 && kept && isBehind()) reads += 1;
      // More than may have died before they could write it down.
      if (reads > readsToNotice) noticed();
      return { ...kept, now: shown() };
    },
    swap(side: Side, { expected, version, record }: StoreChange) {
      const at = effective(side);
      const present = sides[at]?.version;
      const swapped = present === expected || present === version;
      if (swapped && present !== version) {
        // Whoever read that the clock was set back writes it down.
        const notices = isBehind() && reads > 0;
        if (notices) noticed();
        if (notices || !isBehind()) shownUpTo = store.now();
        set(at, { record, version });
        applied(record);
      }
      return { swapped, now: shown() };
    },
    kept: (side: Side) => sides[effective(side)],
    replace(record: string) {
      set('left', { record, version: `intruder ${world.now}` });
      applied(record);
    },
    stepClock(byMs: number) {
      if (byMs < -60_000) store.setBackAt = world.now;
      if (byMs < 0) back = { ms: store.unnoticedMs - Math.round(byMs), noticedAt: Number.POSITIVE_INFINITY };
      store.clockOffset += Math.round(byMs);
      minOffset = Math.min(minOffset, store.clockOffset);
      maxOffset = Math.max(maxOffset, store.clockOffset);
    },
    wipe() {
      lostAt = world.now;
      set('left', undefined);
      set('right', undefined);
    },
    regress(ageMs: number) {
      lostAt = world.now;
      const older = history.filter(({ at }) => at <= world.now - ageMs).at(-1) ?? history[0];
      set('left', older?.kept);
    },
    split() {
      store.isSplit = true;
      set('right', sides.left);
    },
    heal(survivor: Side) {
      lostAt = world.now;
      set('left', sides[survivor]);
      store.isSplit = false;
    },
  };
  return store;
}
