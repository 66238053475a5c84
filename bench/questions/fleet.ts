import { kindOf, rowOf } from '../contenders/peers.ts';
import { type Answer, atMost, numberText, type Scope, spreadText } from '../harness/answer.ts';
import { startWorker } from '../harness/in-process.ts';
import { openPlaces } from '../harness/places.ts';
import { startService } from '../harness/service.ts';
import type { Spent } from '../harness/spent.ts';
import { type Rounds, ratioOf, spreadOf } from '../harness/statistics.ts';
import { contendersIn, type FleetInput, type FleetOrder, noSharing, pairs } from '../workers/fleet.ts';

const processes = 8;
const starts = 5;
const again = ', again';

/** The measurements of one fleet of a contender: milliseconds of the middle process to its first token, and tokens issued. */
interface Deployment {
  readonly coldMs: number;
  readonly laterMs: number;
  readonly laterProcessorMs: number;
  readonly tokensFirst: number;
  readonly tokens: number;
}

const times = ['coldMs', 'laterMs', 'laterProcessorMs'] as const;
type Time = (typeof times)[number];

/** 8 processes are started together, five times one after the other. The token endpoint takes 50 ms. */
export default async function fleet({ quick }: Scope): Promise<Answer> {
  await using service = await startService({ delayMs: 50 });
  await using servers = new AsyncDisposableStack();
  const places = await openPlaces(servers);
  const names = contendersIn(places, !quick).flatMap((name) =>
    name === pairs.redis.byHand ? [name, name + again] : [name],
  );
  const deployments: Record<string, Deployment[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < (quick ? 1 : 3); round += 1) {
    for (const [index, name] of names.entries()) {
      const client = { ...service.client, clientId: `client-${round}-${index}` };
      deployments[name]?.push(await deploy({ name: name.replace(again, ''), client, places }, service.issued));
    }
  }

  const timesOf = (key: Time): Rounds[] => [
    Object.fromEntries(names.map((name) => [name, deployments[name]?.map((done) => done[key]) ?? []])),
  ];
  const ratio = (name: string, key: Time) => ratioOf(timesOf(key), name, byHandFor(name));
  const tokens = (name: string, key: 'tokens' | 'tokensFirst') =>
    spreadOf(deployments[name]?.map((done) => done[key]) ?? []);
  const rows = names.map((name) =>
    rowOf(name, [
      numberText(tokens(name, 'tokensFirst').median, 0),
      numberText(tokens(name, 'tokens').median, 0),
      ...times.map((key) => (name === noSharing ? '–' : spreadText(ratio(name, key)))),
    ]),
  );
  const columns = [
    'tokens, first start',
    `tokens, ${starts} starts`,
    'time to a token, first start',
    'later starts',
    'processor time, later starts',
  ];
  const ours = Object.values(pairs).flatMap((pair) => (names.includes(pair.ours) ? [pair.ours] : []));
  const goals = ours.map((name) =>
    atMost(`${processes} processes × ${starts} starts, ${name}: tokens issued`, 1, tokens(name, 'tokens'), 0),
  );
  const laterStarts = 'time to a token of later starts, Redis, handwritten lock = 1';
  if (places.redis) goals.push(atMost(laterStarts, 1.3, ratio(pairs.redis.ours, 'laterMs')));
  return {
    tables: [{ title: `${processes} processes; times: by hand over the same store = 1`, columns, rows }],
    chart: {
      title: `Tokens issued to ${processes} processes that are started ${starts} times`,
      logarithmic: false,
      bars: names
        .filter((name) => !name.endsWith(again))
        .map((name) => {
          const value = tokens(name, 'tokens');
          return { name, kind: kindOf(name), value, label: numberText(value.median, 0) };
        }),
    },
    goals,
  };
}

async function deploy(input: FleetInput, issued: () => Promise<number>): Promise<Deployment> {
  await issued();
  const spent: Spent[][] = [];
  let tokensFirst = 0;
  let tokens = 0;
  for (let start = 0; start < starts; start += 1) {
    await using stack = new AsyncDisposableStack();
    const started = Array.from({ length: processes }, () => startWorker<FleetOrder, Spent>('fleet'));
    const workers = await Promise.all(started);
    for (const worker of workers) stack.use(worker);
    await Promise.all(workers.map((worker) => worker.run(input)));
    spent.push(await Promise.all(workers.map((worker) => worker.run('go'))));
    tokens += await issued();
    if (start === 0) tokensFirst = tokens;
  }
  const [cold = [], ...later] = spent;
  const median = (values: readonly Spent[], key: keyof Spent) => spreadOf(values.map((value) => value[key])).median;
  const laterProcessorMs = median(later.flat(), 'processorMs');
  return { coldMs: median(cold, 'ms'), laterMs: median(later.flat(), 'ms'), laterProcessorMs, tokensFirst, tokens };
}

function byHandFor(name: string): string {
  const { file, redis, postgres } = pairs;
  return (/postgres/i.test(name) ? postgres : /redis/i.test(name) ? redis : file).byHand;
}
