import { kindOf, loadSources, rowOf } from '../contenders/peers.ts';
import { type Answer, atMost, numberText, type Scope, spreadText } from '../harness/answer.ts';
import { inProcess } from '../harness/in-process.ts';
import { startService } from '../harness/service.ts';
import { type Rounds, ratioOf, spreadOf } from '../harness/statistics.ts';
import {
  onePromise,
  ours,
  type Stampede,
  type StampedeInput,
  singleFlight,
  withoutCache,
} from '../workers/stampede.ts';

const callers = 10_000;

/** 10,000 callers at once, no token yet, a token endpoint that takes 20 ms. Each measurement has a process of its own. */
export default async function stampede({ quick }: Scope): Promise<Answer> {
  await using service = await startService({ delayMs: 20 });
  const names = [onePromise, `${onePromise}, again`, singleFlight, ours, ...(quick ? [] : await peerNames())];
  const times: Record<string, number[]> = {};
  const processor: Record<string, number[]> = {};
  const tokens: Record<string, number[]> = {};
  const failed: Record<string, number[]> = {};
  for (let round = 0; round < 3; round += 1) {
    for (const name of names) {
      // Those that ask 10,000 times take seconds, and are not compared by a few per cent.
      if ((tokens[name]?.[0] ?? 1) > 1) continue;
      const input = { name: name.replace(', again', ''), client: service.client, callers };
      const spent = await inProcess<StampedeInput, Stampede>('stampede', input);
      times[name] = [...(times[name] ?? []), spent.ms];
      processor[name] = [...(processor[name] ?? []), spent.processorMs];
      failed[name] = [...(failed[name] ?? []), spent.failed];
      tokens[name] = [...(tokens[name] ?? []), await service.issued()];
    }
  }
  const ratio = (name: string, of: Rounds = times) => ratioOf([of], name, onePromise);
  const shown = names.toSorted((a, b) => ratio(a).median - ratio(b).median);
  const rows = shown.map((name) =>
    rowOf(name, [
      numberText(spreadOf(tokens[name] ?? []).median, 0),
      numberText(spreadOf(failed[name] ?? []).median, 0),
      spreadText(ratio(name)),
      spreadText(ratio(name, processor)),
    ]),
  );
  return {
    tables: [
      {
        title: '10,000 callers without a token',
        columns: ['tokens issued', 'failed callers', 'time, one shared promise = 1', 'processor time'],
        rows,
      },
    ],
    chart: {
      title: 'Tokens issued to 10,000 callers who come at once',
      logarithmic: true,
      bars: shown
        .filter((name) => !name.endsWith(', again'))
        .map((name) => {
          const value = spreadOf(tokens[name] ?? []);
          return { name, kind: kindOf(name), value, label: numberText(value.median, 0) };
        }),
    },
    goals: [
      atMost('10,000 callers without a token: tokens issued', 1, spreadOf(tokens[ours] ?? []), 0),
      atMost('10,000 callers without a token: time, one shared promise = 1', 1.5, ratio(ours)),
    ],
  };
}

async function peerNames(): Promise<string[]> {
  const requests = Object.keys(await loadSources('requests')).map((name) => name + withoutCache);
  return [...Object.keys(await loadSources('caches')), ...requests];
}
