import { kindOf, rowOf } from '../contenders/peers.ts';
import { allocationFlags } from '../harness/allocation.ts';
import { type Answer, atMost, numberText, type Scope, spreadText } from '../harness/answer.ts';
import { inProcess, inTurn } from '../harness/in-process.ts';
import { startService } from '../harness/service.ts';
import { ratioOf, type Spread } from '../harness/statistics.ts';
import type { HotPathInput, HotPathOutput } from '../workers/hot-path.ts';

const synchronous = 'a property and Date.now()';
const asynchronous = 'an async function and Date.now()';

export default async function hotPath({ quick }: Scope): Promise<Answer> {
  await using service = await startService();
  const input = { client: service.client, rounds: quick ? 5 : 9, sliceMs: quick ? 10 : 20, withPeers: !quick };
  const parts = await inTurn(quick ? 1 : 5, () =>
    inProcess<HotPathInput, HotPathOutput>('hot-path', input, allocationFlags),
  );
  const runs = parts.map(({ rounds }) => rounds);
  const bytes = parts[0]?.bytes ?? {};
  const measured = Object.keys(runs[0] ?? {}).map((name) => {
    const isSynchronous = name.startsWith(synchronous) || name === 'peekToken()';
    const toLimit = ratioOf(runs, name, isSynchronous ? synchronous : asynchronous);
    return { name, isSynchronous, toLimit };
  });
  const shown = measured.toSorted(
    (a, b) => Number(b.isSynchronous) - Number(a.isSynchronous) || a.toLimit.median - b.toLimit.median,
  );
  const rows = shown.map(({ name, isSynchronous, toLimit }) =>
    rowOf(name, [isSynchronous ? 'no' : 'yes', spreadText(toLimit), numberText(bytes[name] ?? Number.NaN, 0)]),
  );
  const ratio = (name: string): Spread =>
    measured.find((row) => row.name === name)?.toLimit ?? { median: Number.NaN, min: Number.NaN, max: Number.NaN };
  const goals = [
    atMost('`peekToken()` against reading a property and comparing `Date.now()`', 1.2, ratio('peekToken()')),
    atMost('`getToken()` against an async function that compares `Date.now()`', 1.2, ratio('getToken()')),
    ...['instrumented, no provider', 'instrumented'].map((how) =>
      atMost(`\`getToken()\` ${how}, against without`, 1.02, ratioOf(runs, `getToken(), ${how}`, 'getToken()'), 3),
    ),
  ];
  const fastestPeer = shown.find(({ name }) => kindOf(name) === 'peer');
  if (fastestPeer) {
    const { name } = fastestPeer;
    goals.push(atMost(`\`getToken()\` against the fastest library (${name})`, 1, ratioOf(runs, 'getToken()', name)));
  }
  return {
    tables: [{ title: 'a token that is fresh', columns: ['awaited', 'time, limit = 1', 'bytes per call'], rows }],
    chart: {
      title: 'Time of getToken() with a fresh token (an async function and Date.now() = 1)',
      logarithmic: true,
      bars: shown
        .filter(({ name, isSynchronous }) => !isSynchronous && !name.endsWith(', again'))
        .map(({ name, toLimit: value }) => ({ name, kind: kindOf(name), value, label: numberText(value.median) })),
    },
    goals,
  };
}
