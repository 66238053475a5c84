import { carefulInterceptor, handwrittenInterceptor, staticHeader } from '../clients/target.ts';
import { rowOf } from '../contenders/peers.ts';
import { type Answer, atMost, type Scope, spreadText, type Table } from '../harness/answer.ts';
import type { ComparisonOptions } from '../harness/compare.ts';
import { inProcess, inTurn } from '../harness/in-process.ts';
import { startService } from '../harness/service.ts';
import { type Rounds, ratioOf } from '../harness/statistics.ts';
import type { AdaptersInput } from '../workers/adapters.ts';

const clients = ['axios', 'nestjs', 'fetch', 'got', 'undici'];

/** The cost of a request itself: the mock of the HTTP client answers, and nothing is sent. */
export default function adapters(scope: Scope): Promise<Answer> {
  const options = { rounds: scope.quick ? 7 : 9, sliceMs: 5, batch: 128, clock: 'processor' } as const;
  return measureClients(scope, 'that is mocked', options);
}

/** The same over loopback, 16 requests at a time. */
export function loopback(scope: Scope): Promise<Answer> {
  const options = { rounds: scope.quick ? 7 : 15, sliceMs: 20, concurrency: 16, clock: 'processor' } as const;
  return measureClients(scope, 'over loopback', options);
}

async function measureClients(
  { quick }: Scope,
  how: 'that is mocked' | 'over loopback',
  comparison: ComparisonOptions,
): Promise<Answer> {
  await using service = await startService();
  const { client } = service;
  const measured = new Map<string, Rounds[]>();
  for (const name of clients) {
    const input = { name, client, isMock: how === 'that is mocked', comparison, withPeers: !quick };
    measured.set(name, await inTurn(quick ? 1 : 3, () => inProcess<AdaptersInput, Rounds>('adapters', input)));
  }
  const tables = [...measured].map(([name, runs]): Table => {
    const rows = Object.keys(runs[0] ?? {}).map((way) => {
      const bases = [staticHeader, handwrittenInterceptor, carefulInterceptor];
      return rowOf(
        way,
        bases.map((base) => spreadText(ratioOf(runs, way, base))),
      );
    });
    return { title: name, columns: ['processor time, static header = 1', 'handwritten = 1', 'as careful = 1'], rows };
  });
  const goals = [...measured].map(([name, runs]) =>
    atMost(
      `${name}: a request ${how}, a handwritten interceptor that is as careful = 1`,
      1.05,
      ratioOf(runs, `@service-auth/${name}`, carefulInterceptor),
    ),
  );
  return { tables, goals };
}
