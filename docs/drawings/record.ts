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
  box([4, 4], [496, 418], 'plain', []),
  ...row(36, record.agreement),
  ...row(64, record.since),
  rule([left, 84], [edge - 20, 84]),
  ...row(112, record.entries),
  ...tokensOf(126, 'iiiiiii?ii?i'),
  token([values, 156], 'here'),
  label([values + 24, 169], record.issued, { faint: true }),
  token([values + 100, 156], 'bad'),
  label([values + 124, 169], record.unknown, { faint: true }),
  ...row(204, record.buckets),
  box([values, 216], [130, 30], 'here', [record.bucketOf[0]]),
  box([values + 140, 216], [180, 30], 'bad', [record.bucketOf[1]]),
  rule([left, 262], [edge - 20, 262]),
  ...row(290, record.audiences),
  label([left + 16, 316], record.orders[0], { faint: true }),
  label([values, 316], record.orders[1], { faint: true }),
  label([left + 16, 340], record.billing[0], { faint: true }),
  label([values, 340], record.billing[1], { faint: true }),
  rule([left, 356], [edge - 20, 356]),
  ...row(382, record.backoffs),
  ...row(408, record.resets),
];
