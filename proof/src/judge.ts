import { inspect } from 'node:util';
import type { AccessToken } from '@service-auth/core';
import { decodeRecord } from '../../packages/core/src/ledger/codec.ts';
import { limitsFor, spent } from '../../packages/core/src/ledger/limits.ts';
import { compact } from '../../packages/core/src/ledger/repair.ts';
import type { Settings } from './modes.ts';
import type { Service, ServiceToken } from './service.ts';
import type { Side, SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

/** Watches a run from outside and says what was promised and not kept. */
export interface Judge {
  readonly violations: readonly string[];
  violated(promise: string, detail: string): void;
  /** The service issued a token. */
  issued(): void;
  /** The record was replaced. */
  applied(side: Side): void;
  /** A process was given this token just now. */
  handedOut(token: AccessToken): ServiceToken | undefined;
  /** By how much the store's clock has been set to and fro: no expiry is more exact. */
  clockSpreadMs(): number;
  /** Something that a program prints, logs or sends elsewhere. */
  published(what: unknown): void;
}

/** Creates the judge of one run. It uses no figure that core works out at run time. */
export function createJudge(world: World, settings: Settings, service: () => Service, store: () => SimulatedStore): Judge {
  const { windowMs, tokens, reserve, durability, bound, rates } = settings;
  const limits = limitsFor(tokens, windowMs, reserve, durability);
  // The longest calendar day has 25 hours, wherever its midnight is: so any span of 25 hours.
  const spanMs = windowMs + Math.min(3_600_000, windowMs / 24);
  const clockIsWild = (rates.store_clock_wild ?? 0) + (rates.store_clock_set_back ?? 0) > 0;
  const ledgerIsSafe = settings.lossesPerWindow === 0 && !clockIsWild;
  const violations: string[] = [];
  let offsets = { least: 0, most: 0 };
  let published = 0;

  function violated(promise: string, detail: string): void {
    violations.push(`${promise}: ${detail}`);
    world.note(`VIOLATION ${promise}: ${detail}`);
  }

  function compareLedger(side: Side): void {
    const kept = store().kept(side);
    const record = kept && decodeRecord(kept.record);
    if (typeof record === 'string') return violated('the record can be read', (process.env.SHOW ? kept?.record : record) ?? '');
    if (!ledgerIsSafe) return;
    const issued = service().issuedSince(world.now - spanMs);
    const now = Math.max(record?.highWaterAt ?? 0, store().now());
    const { used } = record ? spent(compact(record, now, limits)) : { used: 0 };
    if (used < issued) violated('the ledger counts every token', `${used} counted, ${issued} issued`);
  }

  function clockSpreadMs(): number {
    const offset = store().clockOffset;
    offsets = { least: Math.min(offsets.least, offset), most: Math.max(offsets.most, offset) };
    return offsets.most - offsets.least;
  }

  return {
    violations,
    violated,
    clockSpreadMs,
    issued() {
      const count = service().issuedSince(world.now - spanMs);
      if (count > bound) violated('the limit is kept', `${count} tokens within a window, ${bound} allowed`);
      compareLedger('left');
    },
    applied: compareLedger,
    handedOut(token) {
      const known = service().token(token.value);
      if (!known) {
        violated('every token is one of the service', token.id);
        return undefined;
      }
      const leftMs = known.expiresAt - world.now;
      // Sleep of less than a minute is not noticed, and an expiry is as exact as the store's clock.
      const marginMs = rates.sleep ? 0 : Math.min(60_000, known.lifetimeMs / 10);
      if (!clockIsWild && leftMs + clockSpreadMs() < marginMs) {
        violated('every token handed out has life left', `${known.value} with ${leftMs} ms of ${known.lifetimeMs}`);
      }
      return known;
    },
    published(what) {
      published += 1;
      const texts = [String(what), JSON.stringify(what)];
      if (what instanceof Error) texts.push(what.message, String(what.stack), JSON.stringify(what.cause) ?? '');
      // The deepest look is a slow one.
      if (published % 20 === 1) texts.push(inspect(what, { depth: 9, showHidden: true }));
      if (texts.some((text) => text?.includes('CANARY'))) violated('nothing published contains a secret', `${texts[0]}`);
    },
  };
}
