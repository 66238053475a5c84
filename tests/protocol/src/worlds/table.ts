import { existsSync, readFileSync } from 'node:fs';
import { minute } from '../judge/units.ts';
import { type Figures, minutesOf } from './outage-watch.ts';
import { outageWorlds } from './outage-worlds.ts';
import { readRejections, rejectionSection } from './rejection-table.ts';
import type { RejectionFigures } from './rejection-worlds.ts';
import type { Row } from './tried-worlds.ts';

/** The figures of a row as the table shows them, rounded up. `…IsBroken`: a promise is not kept. */
export interface Shown {
  readonly unknownPercent: number;
  readonly unknownIsBroken: boolean;
  readonly waitMinutes: number;
  readonly waitIsBroken: boolean;
  readonly lockedOutMinutes: number;
  readonly lockedOutIsBroken: boolean;
  readonly issued: number;
  readonly requests: number;
}

/** The document with the table. */
export const document: URL = new URL('../../../../docs/evidence/worlds.md', import.meta.url);

/** The seeds of the document. */
export const usualSeeds: readonly number[] = [1, 2, 3];

const introduction = `# Worlds of outages

A fleet asks for tokens all the time, and the token endpoint fails it for hours or days, for all audiences or for some. Each row is one such world, in virtual time, through the public interface of
\`@service-auth/core\`: two or three processes that each ask for all audiences, or one process for each audience where processes are killed. A request that fails is answered 503, and issues no token,
if the row does not say otherwise. The limit is 150 tokens a day with a durable store, of which 120 are usable, if the row does not say otherwise.

- **unknown**: the largest part of what may be issued that was of unknown outcome at one time. Promised: about half, and never more than three quarters.
- **wait**: the longest that a caller waited for a token, in minutes, while requests for its audience work. It counts from the last request for that audience that failed. Promised: 80 minutes, or 6
  hours if less than 120 tokens are usable, or the record is new.
- **locked out**: the longest that the limit refused such a caller, in minutes, although the endpoint had issued less than it may. Promised: never.

**Bold: today's code breaks the promise.** Of several seeds the worst counts; of tokens and requests, the most.
`;

const heads = ['world', 'unknown', 'wait', 'locked out', 'tokens', 'requests'];

/** Rounds what a world came to as the table does. */
export function shown({ unknownShare, waitMs, lateMs, lockedOutMs, issued, requests }: Figures): Shown {
  return {
    unknownPercent: Math.ceil(unknownShare * 1_000) / 10,
    unknownIsBroken: unknownShare > 3 / 4,
    waitMinutes: minutesOf(waitMs),
    waitIsBroken: lateMs > 0,
    lockedOutMinutes: minutesOf(lockedOutMs),
    lockedOutIsBroken: lockedOutMs > minute,
    ...{ issued, requests },
  };
}

/** The cells of a row. */
export function cellsOf(row: Shown): string[] {
  const cell = (value: number, unit: string, isBroken: boolean) =>
    isBroken ? `**${value}${unit}**` : `${value}${unit}`;
  return [
    cell(row.unknownPercent, ' %', row.unknownIsBroken),
    cell(row.waitMinutes, '', row.waitIsBroken),
    cell(row.lockedOutMinutes, '', row.lockedOutIsBroken),
    ...[row.issued, row.requests].map(String),
  ];
}

/** The document's text. Rows that are not among these stay as they are. */
export function render(rows: readonly Row[], rejections: ReadonlyMap<string, RejectionFigures> = new Map()): string {
  const known = readTable();
  for (const { name, figures } of rows) known.set(name, shown(figures));
  const lines = outageWorlds.flatMap(({ name }) => {
    const row = known.get(name);
    return row ? [`| ${[name, ...cellsOf(row)].join(' | ')} |`] : [];
  });
  const count = (isBroken: (row: Shown) => boolean) => [...known.values()].filter(isBroken).length;
  return `${introduction}
Written by \`pnpm worlds\`, with the seeds ${usualSeeds.join(', ')}. Of ${lines.length} worlds, ${count((row) => row.unknownIsBroken)} break the promise about unknown outcomes, ${count((row) => row.waitIsBroken)} that about waits, and ${count((row) => row.lockedOutIsBroken)} that about the limit.
The limit itself was never exceeded.

| ${heads.join(' | ')} |
| --- |${' ---: |'.repeat(heads.length - 1)}
${lines.join('\n')}

${rejectionSection(new Map([...readRejections(document), ...rejections]))}`;
}

/** Reads the rows of the document by the names of their worlds. */
export function readTable(): Map<string, Shown> {
  const lines = existsSync(document) ? readFileSync(document, 'utf8').split('\n') : [];
  const rows = new Map<string, Shown>();
  for (const { name } of outageWorlds) {
    const cells =
      lines
        .find((line) => line.startsWith(`| ${name} |`))
        ?.split('|')
        .slice(2, -1) ?? [];
    if (cells.length === 0) continue;
    const [unknown = 0, wait = 0, lockedOut = 0, issued = 0, requests = 0] = cells.map((cell) =>
      Number(cell.replace(/[*% ]/g, '')),
    );
    const [unknownIsBroken = false, waitIsBroken = false, lockedOutIsBroken = false] = cells.map((cell) =>
      cell.includes('**'),
    );
    const figures = {
      unknownPercent: unknown,
      waitMinutes: wait,
      lockedOutMinutes: lockedOut,
      issued,
      requests,
    };
    rows.set(name, { ...figures, unknownIsBroken, waitIsBroken, lockedOutIsBroken });
  }
  return rows;
}
