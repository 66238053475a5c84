import { type Answer, atMost, numberText, type Scope, spreadText } from '../harness/answer.ts';
import { inProcess, inTurn } from '../harness/in-process.ts';
import { spreadOf } from '../harness/statistics.ts';
import type { RefusedNamesInput, RefusedNamesOutput } from '../workers/refused-names.ts';

/** The token endpoint refuses one audience of a client after the other. What does the record of them cost every decision? */
export default async function refusedNames({ quick }: Scope): Promise<Answer> {
  const measured: { readonly names: number; readonly rounds: RefusedNamesOutput[] }[] = [];
  for (const names of quick ? [100] : [500, 1_500]) {
    const measure = () => inProcess<RefusedNamesInput, RefusedNamesOutput>('refused-names', { names });
    measured.push({ names, rounds: await inTurn(quick ? 1 : 3, measure) });
  }
  const seconds = (rounds: readonly RefusedNamesOutput[]) => spreadOf(rounds.map((round) => round.seconds));
  return {
    tables: [
      {
        title: 'audiences that the token endpoint refuses, one after the other',
        columns: ['seconds of processor time', 'bytes of the record'],
        rows: measured.map(({ names, rounds }) => ({
          name: `${numberText(names, 0)} audiences`,
          kind: 'ours',
          cells: [
            spreadText(seconds(rounds)),
            numberText(spreadOf(rounds.map((round) => round.recordBytes)).median, 0),
          ],
        })),
      },
    ],
    goals: measured
      .filter(({ names }) => names === 1_500)
      .map(({ rounds }) => atMost('1,500 refused audiences: seconds of processor time', 20, seconds(rounds))),
  };
}
