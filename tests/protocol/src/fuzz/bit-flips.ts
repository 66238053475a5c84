import { decodeRecord } from '../../../../packages/core/src/ledger/codec.ts';
import { grownRecord } from './records.ts';

/** Flips every single bit of `count` records as a store keeps them, in UTF-8. Returns how many flips there were, and those that were not noticed. */
export function flipEveryBit(count: number): { readonly flips: number; readonly unnoticed: readonly string[] } {
  const unnoticed: string[] = [];
  let flips = 0;
  for (let seed = 0; seed < count; seed++) {
    const bytes = Buffer.from(grownRecord(seed).text);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const at = bit >> 3;
      bytes[at] = (bytes[at] as number) ^ (1 << (bit & 7));
      if (typeof decodeRecord(bytes.toString()) !== 'string') unnoticed.push(`record ${seed}, bit ${bit}`);
      bytes[at] = (bytes[at] as number) ^ (1 << (bit & 7));
      flips += 1;
    }
  }
  return { flips, unnoticed };
}
