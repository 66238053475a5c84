import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { Pool } from 'undici';
import { createRandom } from '../../tests/protocol/src/random.ts';
import { rowOf } from '../contenders/peers.ts';
import { type Answer, atMost, type Scope, spreadText } from '../harness/answer.ts';
import { environmentOf } from '../harness/client.ts';
import { shuffled } from '../harness/compare.ts';
import { startWorker } from '../harness/in-process.ts';
import { processorSeconds, tellsProcessorTime } from '../harness/processor-time.ts';
import { type Service, startService } from '../harness/service.ts';
import { type Rounds, ratioOf } from '../harness/statistics.ts';

const direct = 'the API itself';
const directAgain = 'the API itself, again';
const ours = 'service-auth serve';
const peer = '@fastify/reply-from';
const connections = 32;

const program = fileURLToPath(new URL('dist/service-auth.js', import.meta.resolve('@service-auth/cli/package.json')));

interface Way {
  readonly name: string;
  readonly url: string;
  /** The process in between. Undefined: there is none. */
  readonly pid?: number | undefined;
}

/** Measures what it costs to send the requests of the API through a proxy on this machine that adds the token. */
export default async function forwarding({ quick }: Scope): Promise<Answer> {
  await using service = await startService();
  await using stack = new AsyncDisposableStack();
  const { origin } = new URL(service.client.apiUrl);
  const ways: Way[] = [
    { name: direct, url: origin },
    { name: directAgain, url: origin },
    { name: ours, ...(await startServe(service, stack)) },
  ];
  if (!quick) {
    const worker = stack.use(await startWorker<string, Required<Omit<Way, 'name'>>>('reply-from'));
    ways.push({ name: peer, ...(await worker.run(origin)) });
  }
  const { times, processor } = await measure(ways, quick ? 3 : 15, quick ? 500 : 2_000);

  const spread = (rounds: Rounds, name: string, base: string) => spreadText(ratioOf([rounds], name, base));
  const rows = ways.map(({ name, pid }) =>
    rowOf(name, [spread(times, name, direct), pid && tellsProcessorTime ? spread(processor, name, ours) : '–']),
  );
  return {
    tables: [
      {
        title: `a request, ${connections} at a time`,
        columns: ['time, the API itself = 1', 'processor time of the proxy, service-auth serve = 1'],
        rows,
      },
    ],
    goals: quick ? [] : [atMost(`a request through \`serve\`, ${peer} = 1`, 1, ratioOf([times], ours, peer))],
  };
}

async function startServe({ client }: Service, stack: AsyncDisposableStack): Promise<Omit<Way, 'name'>> {
  const directory = temporaryFolder(join(tmpdir(), 'service-auth-bench-'));
  const env = { ...environmentOf(client), SERVICE_AUTH_STORE: `file:${directory}` };
  const child = spawn(process.execPath, [program, 'serve', '--no-key'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  stack.defer(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [printed] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { url: printed.trim(), pid: child.pid };
}

/** Seconds of each round. In a round every way has the same number of requests, in an order drawn anew. */
async function measure(ways: readonly Way[], rounds: number, requests: number) {
  const { next } = createRandom(`${rounds} rounds`);
  const times: Record<string, number[]> = Object.fromEntries(ways.map(({ name }) => [name, []]));
  const processor: Record<string, number[]> = structuredClone(times);
  const pools = new Map(ways.map(({ name, url }) => [name, new Pool(url, { connections })]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, pid } of shuffled(ways, next)) {
      const secondsOf = () => (pid && tellsProcessorTime ? processorSeconds(pid) : Number.NaN);
      const [usedBefore, startedAt] = [secondsOf(), performance.now()];
      await sendAll(pools.get(name) as Pool, requests);
      const seconds = (performance.now() - startedAt) / 1_000;
      // The code is compiled in the first round.
      if (round === 0) continue;
      times[name]?.push(seconds);
      processor[name]?.push(secondsOf() - usedBefore);
    }
  }
  await Promise.all([...pools.values()].map((pool) => pool.close()));
  return { times, processor };
}

async function sendAll(pool: Pool, requests: number): Promise<void> {
  let left = requests;
  const send = async () => {
    while (left-- > 0) {
      const headers = { 'service-auth': 'true' };
      const { statusCode, body } = await pool.request({ path: '/api/v1/orders', method: 'GET', headers });
      await body.dump();
      if (statusCode !== 200) throw new Error(`A request was answered ${statusCode}.`);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
}
