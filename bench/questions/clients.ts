import { rowOf } from '../contenders/peers.ts';
import { allocationFlags } from '../harness/allocation.ts';
import { type Answer, atMost, numberText, type Scope, spreadText } from '../harness/answer.ts';
import { inProcess } from '../harness/in-process.ts';
import { startService } from '../harness/service.ts';
import { ratioOf, spreadOf } from '../harness/statistics.ts';
import { closure, type GrowthInput, type GrowthOutput, getToken, peekToken, singleFlight } from '../workers/growth.ts';

const tokenBytes = 754;
const closureAgain = `${closure}, again`;
// Those that are made one per client; the others keep the tokens of all clients in one place.
const peers = [
  'lru-cache',
  '@smithy/property-provider',
  'axios-token-interceptor',
  'google-auth-library',
  'simple-oauth2',
  '@badgateway/oauth2-client',
  'auth0',
];

/** One process with many clients, each with a token of its own: time and memory. */
export default async function clients({ quick }: Scope): Promise<Answer> {
  await using service = await startService();
  const names = [closure, closureAgain, singleFlight, peekToken, getToken, ...(quick ? [] : peers)];
  const measured = new Map<string, GrowthOutput>();
  const measure = (name: string, sizes: number[], rounds: number) =>
    inProcess<GrowthInput, GrowthOutput>(
      'growth',
      { name: name === closureAgain ? closure : name, client: service.client, sizes, rounds },
      allocationFlags,
    );
  for (const name of names) measured.set(name, await measure(name, [1, 100, 10_000], quick ? 3 : 5));
  const crowd = quick ? 10_000 : 100_000;
  const crowded = new Map<string, number>();
  for (const name of [closure, closureAgain, singleFlight, getToken])
    crowded.set(name, (await measure(name, [crowd], 0)).heapBytes);

  const growth = (name: string, size: number) => ratioOf([measured.get(name)?.rounds ?? {}], `${size}`, '1');
  const heap = (name: string) => (crowded.get(name) ?? measured.get(name)?.heapBytes ?? Number.NaN) - tokenBytes;
  const closureBytes = heap(closure) + tokenBytes;
  return {
    tables: [
      {
        title: 'time of a call, with one client = 1',
        columns: ['100 clients', '10,000 clients'],
        rows: names.map((name) => rowOf(name, [spreadText(growth(name, 100)), spreadText(growth(name, 10_000))])),
      },
      {
        title: 'heap of one client',
        columns: ['bytes without its token', 'with it, a closure = 1', 'clients'],
        rows: names
          .filter((name) => name !== peekToken)
          .toSorted((a, b) => heap(a) - heap(b))
          .map((name) =>
            rowOf(name, [
              numberText(heap(name), 0),
              numberText((heap(name) + tokenBytes) / closureBytes, 2),
              numberText(crowded.has(name) ? crowd : 10_000, 0),
            ]),
          ),
      },
    ],
    goals: [
      atMost('`getToken()` with 10,000 clients in one process, with one = 1', 3, growth(getToken, 10_000)),
      atMost(
        `heap of one client of ${numberText(crowd, 0)}: kB`,
        12,
        spreadOf([(heap(getToken) + tokenBytes) / 1_000]),
        1,
      ),
    ],
  };
}
