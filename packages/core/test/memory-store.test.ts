import { describe, expect, test } from 'vitest';
import { memoryStore } from '../src/index.ts';
import { createManualClock } from './support/manual-clock.ts';

describe('memoryStore', () => {
  test('keeps what was swapped in, for each key', async () => {
    const clock = createManualClock();
    const store = memoryStore({ clock });
    expect(store.durability).toBe('process');
    expect(await store.load('a')).toEqual({ now: clock.now() });
    expect(await store.swap('a', { version: '1', record: 'one' })).toEqual({ swapped: true, now: clock.now() });
    expect(await store.load('a')).toEqual({ record: 'one', version: '1', now: clock.now() });
    expect(await store.load('b')).toEqual({ now: clock.now() });
  });

  test('needs no signal, and takes null for no options', async () => {
    const store = memoryStore(null as never);
    expect(await store.swap('a', { version: '1', record: 'one' }, {})).toMatchObject({ swapped: true });
    expect(await store.load('a', {})).toMatchObject({ record: 'one' });
  });

  test('swaps only what has not changed, and the same swap again is no other swap', async () => {
    const store = memoryStore();
    const swapped = async (change: { expected?: string; version: string; record: string }) =>
      (await store.swap('a', change)).swapped;
    expect(await swapped({ expected: '0', version: '1', record: 'x' })).toBe(false);
    expect(await swapped({ version: '1', record: 'one' })).toBe(true);
    expect(await swapped({ version: '1', record: 'one' })).toBe(true);
    expect(await swapped({ version: '2', record: 'x' })).toBe(false);
    expect(await swapped({ expected: '1', version: '2', record: 'two' })).toBe(true);
    expect(await swapped({ expected: '1', version: '3', record: 'x' })).toBe(false);
    expect(await store.load('a')).toMatchObject({ record: 'two', version: '2' });
  });

  test('has a clock that no setting of the wall clock moves', async () => {
    const clock = createManualClock();
    const store = memoryStore({ clock });
    const { now } = await store.load('a');
    clock.step(3_600_000);
    await clock.advance(500);
    expect((await store.load('a')).now).toBe(now + 500);
  });

  test('without options uses the clocks of the machine', async () => {
    const { now } = await memoryStore().load('a');
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
    expect(Number.isInteger(now)).toBe(true);
  });

  test('forgets a record that nobody wrote for 33 days, when another one is written', async () => {
    const clock = createManualClock();
    const store = memoryStore({ clock });
    const day = 24 * 3_600_000;
    await store.swap('unused', { version: '1', record: 'one' });
    await store.swap('used', { version: '1', record: 'one' });
    await clock.advance(30 * day);
    await store.swap('used', { expected: '1', version: '2', record: 'two' });
    await clock.advance(3 * day - 3_600_000);
    await store.swap('other', { version: '1', record: 'one' });
    expect(await store.load('unused')).toMatchObject({ record: 'one' });
    await clock.advance(3_600_000);
    await store.swap('other', { expected: '1', version: '2', record: 'two' });
    expect((await store.load('unused')).record).toBeUndefined();
    expect(await store.load('used')).toMatchObject({ record: 'two' });
    // The record is gone, so a swap that expects none begins another one.
    expect(await store.swap('unused', { version: '2', record: 'new' })).toMatchObject({ swapped: true });
  });

  test('does nothing for those who no longer wait', async () => {
    const store = memoryStore();
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(store.load('a', { signal })).rejects.toThrow('gone');
    await expect(store.swap('a', { version: '1', record: 'x' }, { signal })).rejects.toThrow('gone');
    expect(await store.load('a')).not.toHaveProperty('record');
  });
});
