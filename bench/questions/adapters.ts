import { handwrittenInterceptor, staticHeader, staticHeaderAgain } from '../clients/target.ts';
import { hasPeers, peerVersions } from '../contenders/peers.ts';
import {
  type Answer,
  atMost,
  type Goal,
  type Kind,
  type Row,
  type Scope,
  spreadText,
  type Table,
} from '../harness/answer.ts';
import type { Comparison, ComparisonOptions } from '../harness/compare.ts';
import { inProcess } from '../harness/in-process.ts';
import { startService } from '../harness/service.ts';
import { type Rounds, ratioOf } from '../harness/statistics.ts';
import type { AdaptersInput } from '../workers/adapters.ts';

const clients = ['axios', 'nestjs', 'fetch', 'got', 'undici'];

/** What a request costs by itself: the HTTP client's own mock answers, nothing is sent. */
export default async function adapters(scope: Scope): Promise<Answer> {
  const options = { rounds: scope.quick ? 20 : 50, sliceMs: 5, batch: 64 };
  const measured = await measureClients(scope, true, options);
  return answerFrom(measured, {
    columns: ['time, static header = 1', 'handwritten = 1'],
    cells: ({ times }, name) => [
      spreadText(ratioOf(times, name, staticHeader)),
      spreadText(ratioOf(times, name, handwrittenInterceptor)),
    ],
    goal: (client, { times }) =>
      atMost(
        `${client}: time of a request that is mocked, handwritten interceptor = 1`,
        client === 'fetch' ? 1.5 : 1.05,
        ratioOf(times, oursFor(client), handwrittenInterceptor),
      ),
  });
}

/** The same over loopback, 16 requests at a time. */
export async function loopback(scope: Scope): Promise<Answer> {
  const options = { rounds: scope.quick ? 20 : 40, sliceMs: 20, batch: 16, concurrency: 16, processorTime: true };
  const measured = await measureClients(scope, false, options);
  return answerFrom(measured, {
    columns: ['requests per second, static header = 1', 'processor time, static header = 1', 'handwritten = 1'],
    cells: ({ times, processor }, name) => [
      spreadText(ratioOf(times, staticHeader, name)),
      spreadText(ratioOf(processor, name, staticHeader)),
      spreadText(ratioOf(processor, name, handwrittenInterceptor)),
    ],
    goal: (client, { processor }) =>
      atMost(
        `${client}: processor time of a request over loopback, handwritten interceptor = 1`,
        1.05,
        ratioOf(processor, oursFor(client), handwrittenInterceptor),
      ),
  });
}

/** Of one HTTP client, one element per process. */
interface Measured {
  readonly times: readonly Rounds[];
  readonly processor: readonly Rounds[];
}

async function measureClients(
  { quick }: Scope,
  isMock: boolean,
  comparison: ComparisonOptions,
): Promise<Map<string, Measured>> {
  await using service = await startService();
  const { client } = service;
  const measured = new Map<string, Measured>();
  for (const name of clients) {
    const input = { name, client, isMock, comparison, withPeers: !quick && hasPeers() };
    const parts: Comparison[] = [];
    for (let part = 0; part < (quick ? 1 : 5); part += 1) {
      parts.push(await inProcess<AdaptersInput, Comparison>('adapters', input));
    }
    measured.set(name, {
      times: parts.map(({ times }) => times),
      processor: parts.map(({ processor }) => processor),
    });
  }
  return measured;
}

interface Reading {
  readonly columns: readonly string[];
  cells(runs: Measured, name: string): string[];
  goal(client: string, runs: Measured): Goal;
}

function answerFrom(measured: ReadonlyMap<string, Measured>, { columns, cells, goal }: Reading): Answer {
  const versions = peerVersions();
  const tables = [...measured].map(([client, runs]): Table => {
    const rows = Object.keys(runs.times[0] ?? {}).map((name): Row => {
      const version = versions[name] ? ` ${versions[name]}` : '';
      return { name: `${name}${version}`, kind: kindOf(client, name), cells: cells(runs, name) };
    });
    return { title: client, columns, rows };
  });
  return { tables, charts: [], goals: [...measured].map(([client, runs]) => goal(client, runs)) };
}

function kindOf(client: string, name: string): Kind {
  if (name === oursFor(client)) return 'ours';
  if (name === handwrittenInterceptor) return 'handwritten';
  return name === staticHeader || name === staticHeaderAgain ? 'limit' : 'peer';
}

function oursFor(client: string): string {
  return `@service-auth/${client}`;
}
