import { readFileSync, statfsSync } from 'node:fs';
import { uptime } from 'node:os';
import { describe, expect, test } from 'vitest';
import { type Kernel, kernelClock, thisKernel } from '../src/kernel-clock.ts';

interface Given {
  boot?: string | undefined;
  namespace?: string | undefined;
  namespaceOfChildren?: string | undefined;
  offsets?: string | undefined;
  isGenuine?: boolean;
  uptime?: number;
  monotonic?: bigint;
}

/** A kernel that says these things, or what most do. */
function kernelWith(given: Given = {}): Kernel {
  const said = {
    boot: 'first\n',
    namespace: 'time:[1]',
    namespaceOfChildren: 'time:[1]',
    offsets: 'monotonic           0         0\nboottime            0         0\n',
    isGenuine: true,
    uptime: 5_000.25,
    monotonic: 4_000_500_000_000n,
    ...given,
  };
  const files: Record<string, string | undefined> = {
    'sys/kernel/random/boot_id': said.boot,
    'self/timens_offsets': said.offsets,
    'self/ns/time': said.namespace,
    'self/ns/time_for_children': said.namespaceOfChildren,
  };
  return {
    read: (path) => files[path],
    link: (path) => files[path],
    isGenuine: () => said.isGenuine,
    uptime: () => said.uptime,
    monotonic: () => said.monotonic,
  };
}

const clockOf = (given?: Given) => kernelClock(kernelWith(given));
const ofThisProcess = { id: undefined, elapsedMs: 4_000_500 };

describe('the clock of the kernel', () => {
  test('is the uptime, for all processes of one boot', () => {
    const other = { id: 'first.awake', elapsedMs: 4_000_500 };
    expect(clockOf()).toEqual({ id: 'first', elapsedMs: 5_000_250, other });
    expect(clockOf({ boot: 'second\n' })).toMatchObject({ id: 'second' });
  });

  test.each([
    ['monotonic -7 500000000\nboottime 100800 0\n', 100_800_000],
    ['monotonic 0 0\nboottime -201600 250000000\n', -201_599_750],
    ['monotonic           0         0\nboottime          -20  999999999\n', -19_000],
  ])('is the same in a time namespace: %j', (offsets, offsetMs) => {
    const uptime = (5_000_250 + offsetMs) / 1_000;
    expect(clockOf({ offsets, uptime }).elapsedMs).toBeCloseTo(5_000_250, 0);
  });

  test('is the monotonic one where a program answers for the uptime, and another clock', () => {
    expect(clockOf({ isGenuine: false, uptime: 3 })).toEqual({ id: 'first.awake', elapsedMs: 4_000_500 });
    const offsets = 'monotonic 86400 500000000\nboottime 1 0\n';
    const monotonic = 4_000_500_000_000n + 86_400_500_000_000n;
    expect(clockOf({ isGenuine: false, offsets, monotonic })).toEqual({ id: 'first.awake', elapsedMs: 4_000_500 });
  });

  test('is the uptime where there are no time namespaces', () => {
    const given = { namespace: undefined, namespaceOfChildren: undefined, offsets: undefined };
    expect(clockOf(given)).toMatchObject({ id: 'first', elapsedMs: 5_000_250 });
  });

  test.each<[string, Given]>([
    ['the start has no id', { boot: undefined }],
    ['the id is damaged', { boot: '../first' }],
    ['the id is empty', { boot: '' }],
    ['the offsets are those of another namespace', { namespaceOfChildren: 'time:[2]' }],
    ['the offsets are missing', { offsets: undefined }],
    ['the offsets are damaged', { offsets: 'monotonic 0 0\nboottime x 0\n' }],
    ['an offset is missing', { offsets: 'boottime 0 0\n' }],
  ])('is that of this process where %s', (_, given) => {
    expect(clockOf(given)).toEqual(ofThisProcess);
  });

  test('is that of this process if the kernel denies access', () => {
    const kernel = kernelWith();
    const refuse = () => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    };
    for (const call of ['read', 'link', 'isGenuine'] as const) {
      expect(kernelClock({ ...kernel, [call]: refuse })).toEqual(ofThisProcess);
    }
  });
});

test.runIf(process.platform === 'linux')('the kernel that the tests run on has a clock for all its processes', () => {
  const { id, elapsedMs } = kernelClock();
  expect(id).toMatch(/^[\w-]+(\.awake)?$/);
  expect(elapsedMs).toBeGreaterThan(0);
  expect(thisKernel.isGenuine('uptime')).toBe(statfsSync('/proc/uptime').type === statfsSync('/proc/version').type);
  expect(id?.startsWith(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())).toBe(true);
  expect(thisKernel.uptime()).toBeCloseTo(uptime(), 0);
});
