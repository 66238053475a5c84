import { type Answer, atMost, numberText, type Scope, spreadText } from '../harness/answer.ts';
import { inProcess, inTurn } from '../harness/in-process.ts';
import { spreadOf } from '../harness/statistics.ts';
import type { AudiencesInput, AudiencesOutput } from '../workers/audiences.ts';

interface Scenario extends Pick<AudiencesInput, 'processes' | 'audiences' | 'kind'> {
  readonly name: string;
  readonly rounds: number;
  readonly aimSeconds: number;
}

const scenarios: readonly Scenario[] = [
  { name: '300 audiences in one process', processes: 1, audiences: 300, aimSeconds: 2, rounds: 3 },
  { name: '1,000 audiences in one process', processes: 1, audiences: 1_000, aimSeconds: 5, rounds: 3 },
  {
    name: '10 processes with the same 1,000',
    processes: 10,
    audiences: 1_000,
    kind: 'shared',
    aimSeconds: 20,
    rounds: 1,
  },
  {
    name: '300 processes with one each, a processor for each',
    processes: 300,
    audiences: 1,
    kind: 'own processor',
    aimSeconds: 10,
    rounds: 3,
  },
];

/** Many audiences of one client id ask for their first token at once. The store takes 5 ms, and the token endpoint 100 ms. */
export default async function audiences({ quick }: Scope): Promise<Answer> {
  const measured: { readonly scenario: Scenario; readonly rounds: AudiencesOutput[] }[] = [];
  for (const scenario of scenarios) {
    if (quick && scenario.processes > 1) continue;
    const { processes, audiences, kind } = scenario;
    const input = { processes, audiences, kind, tokenLength: 754, storeMs: 5, answerMs: 100 };
    const rounds = await inTurn(quick ? 1 : scenario.rounds, (seed) =>
      inProcess<AudiencesInput, AudiencesOutput>('audiences', { ...input, seed }),
    );
    measured.push({ scenario, rounds });
  }
  const spread = (rounds: readonly AudiencesOutput[], of: (round: AudiencesOutput) => number) =>
    spreadOf(rounds.map(of));
  const seconds = ({ lastMs }: AudiencesOutput) => lastMs / 1_000;
  const spreadOfTimes = ({ lastMs, medianMs }: AudiencesOutput) => lastMs / medianMs;
  return {
    tables: [
      {
        title: 'the first token of each audience',
        columns: ['seconds until all have one', 'the last one, the median = 1', 'loads', 'swaps', 'token requests'],
        rows: measured.map(({ scenario: { name }, rounds }) => ({
          name,
          kind: 'ours',
          cells: [
            spreadText(spread(rounds, seconds)),
            spreadText(spread(rounds, spreadOfTimes)),
            ...(['loads', 'swaps', 'tokenRequests'] as const).map((count) =>
              numberText(spread(rounds, (round) => round[count]).median, 0),
            ),
          ],
        })),
      },
    ],
    goals: measured.flatMap(({ scenario: { name, aimSeconds }, rounds }) => [
      atMost(`${name}: seconds until all have a token`, aimSeconds, spread(rounds, seconds)),
      atMost(`${name}: the last one, the median = 1`, 3, spread(rounds, spreadOfTimes)),
    ]),
  };
}
