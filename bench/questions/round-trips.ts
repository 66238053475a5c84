import { type Answer, atMost, numberText, type Scope } from '../harness/answer.ts';
import { openPlaces } from '../harness/places.ts';
import { spreadOf } from '../harness/statistics.ts';
import { audiencesThatFit, recordSize } from '../scenarios/record-size.ts';
import { scenarios, type Trips, waitingProcesses } from '../scenarios/round-trips.ts';
import { secondsPerLoad } from '../scenarios/server-load.ts';

const answerMs = 10_000;
/** The largest record that each store keeps, in bytes. */
const bounds = { DynamoDB: 400_000, 'Durable Object': 1_900_000, 'all others': 1_000_000 };

/** Round trips are counted, because their time depends on the user's network; only the servers' share of a core is measured. */
export default async function roundTrips(_scope: Scope): Promise<Answer> {
  const trips: (Trips & { name: string })[] = [];
  for (const [name, run] of Object.entries(scenarios)) trips.push({ name, ...(await run()) });
  const waiting = await waitingProcesses(1_000, answerMs);
  const perSecond = waiting.loads / (answerMs / 1_000);
  await using servers = new AsyncDisposableStack();
  const load = Object.entries(await secondsPerLoad(await openPlaces(servers)));
  const sizes = [1, 150, 100_000].map((tokens) => ({ tokens, bytes: recordSize(tokens) }));
  const sizesOfNames = [150, 300, 1_000].map((names) => ({ names, bytes: recordSize(names, names) }));
  const largest = spreadOf([sizes.at(-1)?.bytes ?? Number.NaN]);
  const [first, adopting] = trips;
  const total = (of: Trips | undefined) => spreadOf([(of?.loads ?? 0) + (of?.swaps ?? 0) + (of?.tokenRequests ?? 0)]);
  return {
    tables: [
      {
        title: 'what it causes',
        columns: ['loads of the store', 'swaps', 'token requests'],
        rows: trips.map(({ name, loads, swaps, tokenRequests }) => ({
          name,
          kind: 'ours',
          cells: [loads, swaps, tokenRequests].map((count) => numberText(count, 0)),
        })),
      },
      {
        title: '1,000 processes without a token, a token endpoint that takes 10 s',
        columns: ['loads per process and second', 'swaps', 'token requests', 'served'],
        rows: [
          {
            name: 'one asks, the others wait for it',
            kind: 'ours',
            cells: [
              numberText(perSecond / 1_000),
              ...[waiting.swaps, waiting.tokenRequests, waiting.served].map((count) => numberText(count, 0)),
            ],
          },
        ],
      },
      {
        title: 'a server to which these 1,000 processes are connected',
        columns: ['loads per second', 'processor time, % of one core'],
        rows: load.map(([name, seconds]) => ({
          name,
          kind: 'ours',
          cells: [numberText(perSecond, 0), numberText(100 * seconds * perSecond, 1)],
        })),
      },
      {
        title: 'size of the record',
        columns: ['bytes'],
        rows: [
          ...sizes.map(({ tokens, bytes }) => ({
            name: `${numberText(tokens, 0)} ${tokens === 1 ? 'token' : 'tokens'} spent`,
            kind: 'ours' as const,
            cells: [numberText(bytes, 0)],
          })),
          ...sizesOfNames.map(({ names, bytes }) => ({
            name: `a token for each of ${numberText(names, 0)} audiences`,
            kind: 'ours' as const,
            cells: [numberText(bytes, 0)],
          })),
        ],
      },
      {
        title: 'audiences whose tokens of 754 characters fit',
        columns: ['audiences'],
        rows: Object.entries(bounds).map(([name, bytes]) => ({
          name,
          kind: 'ours',
          cells: [numberText(audiencesThatFit(bytes), 0)],
        })),
      },
    ],
    goals: [
      atMost('a process that adopts a token: round trips (one load)', 1, total(adopting), 0),
      atMost(
        'the process that has it issued: round trips (one load, two swaps, one token request)',
        4,
        total(first),
        0,
      ),
      atMost('size of the record at 100,000 tokens: bytes', 49_152, largest, 0),
    ],
  };
}
