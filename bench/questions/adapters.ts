import { carefulInterceptor, handwrittenInterceptor, staticHeader, staticHeaderAgain } from '../clients/target.ts';
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
import type { ComparisonOptions } from '../harness/compare.ts';
import { inProcess } from '../harness/in-process.ts';
import { startService } from '../harness/service.ts';
import { type Rounds, ratioOf } from '../harness/statistics.ts';
import type { AdaptersInput } from '../workers/adapters.ts';

const clients = ['axios', 'nestjs', 'fetch', 'got', 'undici'];

/** The cost of a request itself: the mock of the HTTP client answers, and nothing is sent. */
export default async function adapters(scope: Scope): Promise<Answer> {
  const options = { rounds: scope.quick ? 7 : 9, sliceMs: 5, batch: 128, clock: 'processor' } as const;
  return answerFrom(await measureClients(scope, true, options), (client, runs) =>
    atMost(
      `${client}: a request that is mocked, a handwritten interceptor that is as careful = 1`,
      1.05,
      ratioOf(runs, oursFor(client), carefulInterceptor),
    ),
  );
}

/** The same over loopback, 16 requests at a time. */
export async function loopback(scope: Scope): Promise<Answer> {
  const options = { rounds: scope.quick ? 7 : 15, sliceMs: 20, concurrency: 16, clock: 'processor' } as const;
  return answerFrom(await measureClients(scope, false, options), (client, runs) =>
    atMost(
      `${client}: a request over loopback, a handwritten interceptor that is as careful = 1`,
      1.05,
      ratioOf(runs, oursFor(client), carefulInterceptor),
    ),
  );
}

async function measureClients(
  { quick }: Scope,
  isMock: boolean,
  comparison: ComparisonOptions,
): Promise<Map<string, Rounds[]>> {
  await using service = await startService();
  const { client } = service;
  const measured = new Map<string, Rounds[]>();
  for (const name of clients) {
    const input = { name, client, isMock, comparison, withPeers: !quick && hasPeers() };
    const parts: Rounds[] = [];
    for (let part = 0; part < (quick ? 1 : 3); part += 1) {
      parts.push(await inProcess<AdaptersInput, Rounds>('adapters', input));
    }
    measured.set(name, parts);
  }
  return measured;
}

function answerFrom(
  measured: ReadonlyMap<string, Rounds[]>,
  goal: (client: string, runs: readonly Rounds[]) => Goal,
): Answer {
  const versions = peerVersions();
  const tables = [...measured].map(([client, runs]): Table => {
    const rows = Object.keys(runs[0] ?? {}).map((name): Row => {
      const version = versions[name] ? ` ${versions[name]}` : '';
      const bases = [staticHeader, handwrittenInterceptor, carefulInterceptor];
      const cells = bases.map((base) => spreadText(ratioOf(runs, name, base)));
      return { name: `${name}${version}`, kind: kindOf(client, name), cells };
    });
    return { title: client, columns: ['processor time, static header = 1', 'handwritten = 1', 'as careful = 1'], rows };
  });
  return { tables, charts: [], goals: [...measured].map(([client, runs]) => goal(client, runs)) };
}

function kindOf(client: string, name: string): Kind {
  if (name === oursFor(client)) return 'ours';
  if (name === handwrittenInterceptor || name === carefulInterceptor) return 'handwritten';
  return name === staticHeader || name === staticHeaderAgain ? 'limit' : 'peer';
}

function oursFor(client: string): string {
  return `@service-auth/${client}`;
}
