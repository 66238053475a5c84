import type { Store, StoreSnapshot, StoreSwapResult } from '@service-auth/core';
import { interrupt } from './faults.ts';
import { day, second } from './judge/units.ts';
import type { Machine } from './machine.ts';
import type { Run } from './parts.ts';
import type { Provider } from './provider.ts';
import type { Side } from './simulated-store.ts';
import { type Broken, createEndpoint, type Endpoint, working } from './token-endpoint.ts';

/** The network between the machines, the store and the service. */
export interface Network {
  storeOf(machine: Machine, side: Side): Store;
  readonly endpoint: Endpoint;
  /** The machines that were given the record. */
  readonly readers: ReadonlySet<string>;
  readonly broken: Broken;
}

export function createNetwork(run: Run, provider: Provider | undefined): Network {
  const { world, dice, store, judge } = run;
  const { windowMs, durability, maxRecordBytes, maxFreezeMs } = run.settings;
  const scale = windowMs / day;
  const readers = new Set<string>();
  const broken = { ...working };
  const endpoint = createEndpoint(run, broken, provider);
  const answersUntil = new Map<string, number>();
  const latency = dice.of('store_reply_late');

  /** Two attempts of one process read the record side by side. One failure is one failure for both. */
  function failsOnce({ name }: Machine): boolean {
    if (world.now < (answersUntil.get(name) ?? 0) || !dice.roll('load_fails_once')) return false;
    answersUntil.set(name, world.now + 600 * second);
    return true;
  }

  /** What goes wrong with a call, in the order in which it is drawn. */
  const fateOf = (isLost: boolean) => ({
    isLost: isLost || dice.roll('store_request_lost'),
    lateMs: dice.roll('store_request_late') ? latency.between(second, 600 * second * scale) : 0,
    isRepeated: dice.roll('store_duplicated'),
    isReplyLost: dice.roll('store_reply_lost'),
    isReplyError: dice.roll('store_reply_error'),
    replyLateMs: dice.roll('store_reply_late') ? latency.between(second, 20 * second) : 0,
  });

  function call<Result extends StoreSnapshot | StoreSwapResult>(
    machine: Machine,
    what: 'load' | 'swap',
    execute: () => Result,
  ): Promise<Result> {
    const reply = (delayMs: number, event: () => void) => world.at(world.now + delayMs, () => machine.deliver(event));
    const calledAt = world.now;
    return new Promise((resolve, reject) => {
      // Before and after a call of the store a process may stand still for any time.
      const maxMs = latency.chance(0.3) ? 6 * 3_600 * second * scale : maxFreezeMs;
      if (!machine.alive || !interrupt(dice, machine, 'call', maxMs)) return;
      const isDown = broken.store || broken.cutOff === machine.name;
      const isRefused = isDown ? latency.chance(0.5) : dice.roll('store_refused');
      if (what === 'load' && failsOnce(machine))
        return void reply(latency.between(0.2, 20), () => reject(new Error('once')));
      const fate = fateOf(isDown && !isRefused);
      if (isRefused) {
        reply(latency.between(0.2, 20), () => reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })));
        return;
      }
      if (fate.isLost) return;

      // It stands still before the call has left, or after.
      const leavesAt = latency.chance(0.5) ? world.now : Math.max(world.now, machine.frozenUntil);
      const arrivesAt = leavesAt + latency.between(0.2, 8) + fate.lateMs;
      world.at(arrivesAt, () => {
        const result = execute();
        if ('swapped' in result && result.swapped) judge.wrote(machine.name, calledAt);
        world.note(`${machine.name} ${what} ${'swapped' in result ? result.swapped : result.version} ${result.now}`);
        if (fate.isReplyLost) return;
        reply(latency.between(0.2, 8) + fate.replyLateMs, () => {
          if (fate.isReplyError) return reject(new Error('connection lost'));
          if (what === 'load') {
            judge.looked(machine.name);
            readers.add(machine.name);
          }
          resolve(result);
        });
      });
      if (fate.isRepeated) world.at(arrivesAt + latency.between(1, 600 * second * scale), execute);
    });
  }

  return {
    readers,
    broken,
    endpoint,
    storeOf: (machine, side) => ({
      durability,
      maxRecordBytes,
      load: () => call(machine, 'load', () => store.load(side)),
      swap: (_key, change) => {
        const bytes = Buffer.byteLength(change.record);
        if (bytes > (maxRecordBytes ?? Number.POSITIVE_INFINITY)) judge.outgrew(machine.name, bytes);
        return call(machine, 'swap', () => {
          if (!broken.discards) return store.swap(side, change);
          judge.discarded(machine.name);
          return { swapped: false, now: store.load(side).now };
        });
      },
    }),
  };
}
