import { describe, expect, test } from 'vitest';
import type { ServiceAuth, ServiceAuthEvent } from '../src/index.ts';
import { createBed, failure, minute, ofProcess, second } from './support/bed.ts';
import { answersAfter, type Fault, fails } from './support/faulty-store.ts';
import { createGate } from './support/gate.ts';
import { settled } from './support/manual-clock.ts';
import { gated } from './support/scripted-endpoint.ts';

/** Two clients of one process. Each has a listener of its own. */
function twoClients() {
  const bed = createBed();
  const store = ofProcess(bed.store);
  const clients = ['one', 'two'].map((audience) => {
    const events: ServiceAuthEvent[] = [];
    const auth = bed.client({ store, audience, onEvent: (event) => events.push(event) });
    return { auth, typesOf: (...types: string[]) => events.map(({ type }) => type).filter((it) => types.includes(it)) };
  });
  type Client = (typeof clients)[number];
  return { bed, clients: clients as [Client, Client] };
}

const warns: Fault = async (call) => ({ ...(await call()), warnings: ['it forgets'] });

describe('news of a record that clients of one process share', () => {
  test('reaches every listener once, however late it asks', async () => {
    const { bed, clients } = twoClients();
    bed.store.always('load', warns);
    bed.store.next('load', async (call) => ({ ...(await call()), record: 'damaged', version: '1' }));
    await failure('ERR_STORE_INTEGRITY', bed.clock.until(clients[0].auth.getUsage()));
    for (const { auth } of [...clients, ...clients]) await bed.token(auth);
    for (const { auth, typesOf } of clients) {
      await auth.getUsage();
      expect(typesOf('store_warning')).toHaveLength(1);
    }
    await bed.token(bed.client({ issuanceLimit: { tokens: 20 } }));
    await bed.clock.advance(5 * minute);
    for (const { auth } of [...clients, ...clients]) await auth.getUsage();
    for (const { typesOf } of clients) expect(typesOf('agreement_differs')).toHaveLength(1);
  });

  test('reaches a listener that many clients have once', async () => {
    const bed = createBed();
    const store = ofProcess(bed.store);
    const types: string[] = [];
    const onEvent = ({ type }: ServiceAuthEvent) => types.push(type);
    const clients = ['a', 'b', 'c'].map((audience) => bed.client({ store, audience, onEvent }));
    bed.store.always('load', warns);
    await Promise.all(clients.map((auth) => bed.token(auth)));
    await bed.store.replace(undefined);
    await bed.clock.until(Promise.all(clients.map((auth) => auth.reset())));
    expect(types.filter((type) => type === 'store_warning')).toHaveLength(1);
    expect(types.filter((type) => type === 'ledger_lost')).toHaveLength(1);
  });

  test('of a failing store reaches all who wait for the read, and each hears when it is over', async () => {
    const { bed, clients } = twoClients();
    for (const { auth } of clients) await bed.token(auth);
    await bed.clock.advance(29 * second);
    bed.store.always('load', fails);
    const all = () => Promise.all(clients.map(({ auth }: { auth: ServiceAuth }) => bed.clock.until(auth.getToken())));
    await all();
    for (const { typesOf } of clients) expect(typesOf('store_failed', 'store_recovered')).toEqual(['store_failed']);
    bed.store.always('load');
    await bed.clock.advance(11 * second);
    for (const { auth } of clients) await bed.token(auth);
    for (const { typesOf } of clients) {
      expect(typesOf('store_failed', 'store_recovered')).toEqual(['store_failed', 'store_recovered']);
    }
  });
});

test('a read that was slower than a write does not hide what was written', async () => {
  const bed = createBed();
  const store = ofProcess(bed.store);
  const [one, two] = ['one', 'two'].map((audience) => bed.client({ store, audience })) as [ServiceAuth, ServiceAuth];
  await bed.token(one);
  const gate = createGate();
  const { load } = bed.store.calls;
  bed.store.next('load', answersAfter(gate.opened));
  const usage = one.getUsage();
  const { answer, release } = gated(bed.endpoint.issue);
  bed.endpoint.next(answer);
  const token = two.getToken();
  await settled();
  gate.open();
  await bed.clock.until(usage);
  release();
  await bed.clock.until(token);
  // The read, and that of the reservation. The outcome was written without another one.
  expect(bed.store.calls.load - load).toBe(2);
});
