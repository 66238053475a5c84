import assert from 'node:assert/strict';
import type { Store } from '@service-auth/core';
import type { ContractCase } from '../contract/contract-case.ts';
import { changeTo, type DefineCase, freshKey, write } from './fixture.ts';

// The least that a time zone is away from UTC is 15 minutes; a server and this machine agree better
// than that.
const tolerableDifferenceMs = 10 * 60_000;
// A clock of whole seconds is up to a second behind, and the servers of one service differ by up to
// a second.
const tolerableMs = 2_000;
const dayMs = 86_400_000;
// Real time, and only for a clock that does not go on: one of whole seconds, on servers that
// differ, does.
const standstillMs = 2_500;

type ReadClock = (store: Store, key: string) => Promise<number>;

const clocks: Record<string, ReadClock> = {
  load: async (store, key) => (await store.load(key)).now,
  swap: async (store) => (await store.swap(freshKey(), changeTo('first'))).now,
  'a refused swap': async (store, key) => (await store.swap(key, changeTo('late', changeTo('never written')))).now,
};

/** Says what a wrong time looks like. */
function unitOf(now: unknown, here: number): string {
  if (typeof now !== 'number') return `it is no number, but a ${typeof now}`;
  const near = (time: number) => Math.abs(time - here) < tolerableDifferenceMs;
  if (near(now * 1_000)) return 'these are seconds, not milliseconds';
  if (near(now / 1_000)) return 'these are microseconds, not milliseconds';
  if (Math.abs(now - here) < 15 * 3_600_000) return 'is it a local time?';
  return 'it is another time';
}

/** `now` is one clock for the whole fleet, and that clock is the store's. */
export function clockCases(define: DefineCase): ContractCase[] {
  const cases = Object.entries(clocks).flatMap(([operation, read]) => [
    define(
      `${operation} tells the time in epoch milliseconds, with or without a record`,
      async ({ store, key, clock }) => {
        const times = [await read(store, key)];
        await write(store, key, 'first');
        times.push(await read(store, key));
        for (const now of times) {
          const difference = Math.abs(now - clock.now());
          assert.ok(
            typeof now === 'number' && difference < tolerableDifferenceMs,
            `now is ${now}, and here it is ${clock.now()}: ${unitOf(now, clock.now())}`,
          );
        }
      },
    ),

    define(`${operation} reads a clock that goes on at the pace of time`, async ({ store, key }) => {
      await write(store, key, 'first');
      const startedAt = performance.now();
      const first = await read(store, key);
      let last = first;
      while (last <= first && performance.now() - startedAt < standstillMs) last = await read(store, key);
      assert.ok(last > first, 'the clock stands still');
      const elapsedMs = performance.now() - startedAt;
      assert.ok(last - first <= elapsedMs + tolerableMs, `the clock went on by ${last - first} ms in ${elapsedMs} ms`);
    }),

    define(`${operation} reads the same clock through every handle`, async ({ store, key, another }) => {
      const other = await another();
      await write(store, key, 'first');
      const startedAt = performance.now();
      const times: number[] = [];
      for (let count = 0; count < 5; count += 1) times.push(await read(store, key), await read(other, key));
      const elapsedMs = performance.now() - startedAt;
      const spreadMs = Math.max(...times) - Math.min(...times);
      assert.ok(
        spreadMs <= elapsedMs + tolerableMs,
        `in ${elapsedMs} ms the clocks of two handles show ${spreadMs} ms`,
      );
      for (const [index, now] of times.slice(1).entries()) {
        assert.ok(now >= (times[index] as number) - tolerableMs, 'the clock went back');
      }
    }),

    define(`${operation} reads a clock that does not follow this process's`, async ({ store, key, clock, another }) => {
      await write(store, key, 'first');
      const startedAt = performance.now();
      const before = await read(store, key);
      for (const stepMs of [dayMs, -2 * dayMs]) {
        clock.step(stepMs);
        for (const each of [store, await another()]) {
          const movedMs = (await read(each, key)) - before;
          const elapsedMs = performance.now() - startedAt;
          const followed = `the clock follows that of this process: a step of ${stepMs} ms moved it by ${movedMs} ms`;
          assert.ok(Math.abs(movedMs) <= elapsedMs + tolerableMs, followed);
        }
      }
    }),
  ]);
  return [
    ...cases,
    define('a store that is opened anew goes on with the same clock', async ({ store, key, reopen }) => {
      const startedAt = performance.now();
      const { now: before } = await store.load(key);
      const { now: after } = await (await reopen()).load(key);
      const elapsedMs = performance.now() - startedAt;
      assert.ok(Math.abs(after - before) <= elapsedMs + tolerableMs, `opening moved the clock by ${after - before} ms`);
    }),
  ];
}
