import { hasPeers, peerVersions } from '../contenders/peers.ts';
import { allocationFlags } from '../harness/allocation.ts';
import { type Answer, atMost, type Kind, numberText, type Row, type Scope, spreadText } from '../harness/answer.ts';
import { inProcess } from '../harness/in-process.ts';
import { startService } from '../harness/service.ts';
import { ratioOf, type Spread } from '../harness/statistics.ts';
import type { HotPathInput, HotPathOutput } from '../workers/hot-path.ts';

const synchronous = 'a property and Date.now()';
const asynchronous = 'an async function and Date.now()';
const limits = new Set([
  synchronous,
  `${synchronous}, again`,
  asynchronous,
  `${asynchronous}, again`,
  'one settled promise',
]);
const kinds: Readonly<Record<string, Kind>> = {
  'handwritten cache': 'handwritten',
  'handwritten cache, single flight': 'handwritten',
  'peekToken()': 'ours',
  'getToken()': 'ours',
  'getToken(), again': 'ours',
  'getToken(), with a listener': 'ours',
  'getToken(), instrumented, no provider': 'ours',
  'getToken(), instrumented': 'ours',
};

export default async function hotPath({ quick }: Scope): Promise<Answer> {
  await using service = await startService();
  const input = {
    client: service.client,
    rounds: quick ? 5 : 9,
    sliceMs: quick ? 10 : 20,
    withPeers: !quick && hasPeers(),
  };
  const parts: HotPathOutput[] = [];
  for (let part = 0; part < (quick ? 1 : 5); part += 1) {
    parts.push(await inProcess<HotPathInput, HotPathOutput>('hot-path', input, allocationFlags));
  }
  const runs = parts.map(({ rounds }) => rounds);
  const bytes = parts[0]?.bytes ?? {};
  const versions = peerVersions();

  const measured = Object.keys(runs[0] ?? {}).map((name) => {
    const isSynchronous = name.startsWith(synchronous) || name === 'peekToken()';
    const kind: Kind = limits.has(name) ? 'limit' : (kinds[name] ?? 'peer');
    const toLimit = ratioOf(runs, name, isSynchronous ? synchronous : asynchronous);
    return { name, kind, isSynchronous, toLimit };
  });
  const shown = measured.toSorted(
    (a, b) => Number(b.isSynchronous) - Number(a.isSynchronous) || a.toLimit.median - b.toLimit.median,
  );
  const rows = shown.map(({ name, kind, isSynchronous, toLimit }): Row => {
    const version = kind === 'peer' ? ` ${versions[name]}` : '';
    const cells = [isSynchronous ? 'no' : 'yes', spreadText(toLimit), numberText(bytes[name] ?? Number.NaN, 0)];
    return { name: `${name}${version}`, kind, cells };
  });
  const ratio = (name: string): Spread =>
    measured.find((row) => row.name === name)?.toLimit ?? { median: Number.NaN, min: Number.NaN, max: Number.NaN };
  const fastestPeer = shown.find(({ kind }) => kind === 'peer');
  return {
    tables: [{ title: 'a token that is fresh', columns: ['awaited', 'time, limit = 1', 'bytes per call'], rows }],
    charts: [
      {
        title: 'Time of getToken() with a fresh token (an async function and Date.now() = 1)',
        logarithmic: true,
        bars: shown
          .filter(({ name, isSynchronous }) => !isSynchronous && !name.endsWith(', again'))
          .map(({ name, kind, toLimit }) => ({ name, kind, value: toLimit, label: numberText(toLimit.median) })),
      },
    ],
    goals: [
      atMost('`peekToken()` against reading a property and comparing `Date.now()`', 1.2, ratio('peekToken()')),
      atMost('`getToken()` against an async function that compares `Date.now()`', 1.2, ratio('getToken()')),
      ...['instrumented, no provider', 'instrumented'].map((how) =>
        atMost(`\`getToken()\` ${how}, against without`, 1.02, ratioOf(runs, `getToken(), ${how}`, 'getToken()'), 3),
      ),
      ...(fastestPeer
        ? [
            atMost(
              `\`getToken()\` against the fastest library (${fastestPeer.name})`,
              1,
              ratioOf(runs, 'getToken()', fastestPeer.name),
            ),
          ]
        : []),
    ],
  };
}
