import { box, label, rule, type Shape, token } from './svg.ts';
import { words } from './words.ts';

const { record } = words;

const left = 20;
const values = 160;
const edge = 500;
const tokensOf = (y: number, kinds: string): Shape[] =>
  [...kinds].map((kind, index) => token([values + index * 22, y], kind === '?' ? 'bad' : 'here'));

function row(y: number, [name, value]: readonly [string, string]): Shape[] {
  return [label([left, y], name, { bold: true }), label([values, y], value)];
}

/** The parts of the record. */
export const recordShapes: readonly Shape[] = [
  box([4, 4], [496, 446], 'plain', []),
  ...row(36, record.limits),
  ...row(64, record.since),
  rule([left, 84], [edge - 20, 84]),
  ...row(112, record.spent),
  ...tokensOf(126, 'iiiiiii?ii?i'),
  token([values, 156], 'here'),
  label([values + 24, 169], record.issued, { faint: true }),
  token([values + 100, 156], 'bad'),
  label([values + 124, 169], record.unknown, { faint: true }),
  label([values, 195], record.underWay, { faint: true }),
  ...row(226, record.sums),
  box([values, 238], [130, 30], 'here', [record.sumOf[0]]),
  box([values + 140, 238], [180, 30], 'bad', [record.sumOf[1]]),
  rule([left, 284], [edge - 20, 284]),
  ...row(312, record.tokens),
  ...record.audiences.flatMap(([audience, until], index) => [
    label([left + 16, 336 + 22 * index], audience, { faint: true }),
    label([values, 336 + 22 * index], until, { faint: true }),
  ]),
  rule([left, 374], [edge - 20, 374]),
  ...row(400, record.states),
  ...row(428, record.log),
];
