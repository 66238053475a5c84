import { readFileSync } from 'node:fs';
import { day, hour, minute } from '../judge/units.ts';
import type { Figures } from './outage-world.ts';
import { type OutageWorld, usualWorld } from './outage-world.ts';

/** The page with the table of waits. */
export const page: URL = new URL('../../../../docs/when-a-request-is-repeated.md', import.meta.url);

const lengths = [2, 5, 10, 20, 45, 90, 240, 600, 1_440];
const limits = [
  { usable: 120, tokens: 150, durability: 'durable' },
  { usable: 75, tokens: 150, durability: 'replicated' },
  { usable: 40, tokens: 50, durability: 'durable' },
  { usable: 25, tokens: 50, durability: 'replicated' },
  { usable: 16, tokens: 20, durability: 'durable' },
] as const;

const nameOf = (usable: number, minutes: number) => `${usable} usable, an outage of ${minutes} min`;

/** One audience without a token, and an endpoint that fails it for so long. */
export const waitWorlds: readonly OutageWorld[] = limits.flatMap(({ usable, tokens, durability }) =>
  lengths.map((minutes) => ({
    ...usualWorld,
    name: nameOf(usable, minutes),
    audiences: 1,
    lifeMs: 30 * hour,
    lastsMs: minutes * minute + 8 * hour,
    works: (_audience: number, atMs: number) => Number(atMs >= minutes * minute),
    windows: [{ tokens, windowMs: day }],
    durability,
  })),
);

/** The page with these waits in its table. */
export function withWaits(rows: ReadonlyMap<string, Figures>): string {
  const lines = limits.map(({ usable }) => {
    const cells = lengths.map((minutes) => rows.get(nameOf(usable, minutes))?.['waitMinutes']);
    return `| ${[usable, ...cells].join(' | ')} |`;
  });
  return readFileSync(page, 'utf8').replace(
    /(?<=\n\| usable tokens[^\n]*\n[^\n]*\n)(\|[^\n]*\n)+/,
    `${lines.join('\n')}\n`,
  );
}

/** The wait that the page states, in minutes. */
export function statedWait(name: string): number {
  const [usable = '', minutes = ''] = name.match(/\d+/g) ?? [];
  const row = new RegExp(`^\\| ${usable} \\|.*$`, 'm').exec(readFileSync(page, 'utf8'))?.[0] ?? '';
  return Number(row.split('|')[2 + lengths.indexOf(Number(minutes))]);
}
