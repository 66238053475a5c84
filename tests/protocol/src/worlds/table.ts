import { readFileSync } from 'node:fs';
import { waitPromisedMinutes } from './outage-watch.ts';
import type { Figures, OutageWorld } from './outage-world.ts';
import { outageWorlds } from './outage-worlds.ts';
import { type RejectionWorld, rejectionWorlds } from './rejection-worlds.ts';

interface Column<World> {
  readonly head: string;
  readonly unit?: string;
  /** The most that is promised. Undefined: nothing is. */
  most?(world: World): number;
}

/** A table of the document: its worlds, and the figures that it shows of each. */
export interface Table<World extends { readonly name: string }> {
  readonly worlds: readonly World[];
  readonly columns: Readonly<Record<string, Column<World>>>;
}

/** The document with the tables. */
export const document: URL = new URL('../../../../docs/evidence/worlds.md', import.meta.url);

/** The seeds of the document. */
export const usualSeeds: readonly number[] = [1, 2, 3];

export const outageTable: Table<OutageWorld> = {
  worlds: outageWorlds,
  columns: {
    unknownPercent: { head: 'unknown', unit: ' %', most: () => 75 },
    // A caller asks again a few seconds after the instant that it was told.
    waitMinutes: { head: 'wait', most: (world) => waitPromisedMinutes(world) + 1 },
    lockedOutMinutes: { head: 'locked out', most: () => 1 },
    issued: { head: 'tokens' },
    requests: { head: 'requests' },
  },
};

/** A third of 120 usable tokens. */
const share = 40;
/** A route is asked about every four minutes. */
const servedWithinMinutes = 6;

export const rejectionTable: Table<RejectionWorld> = {
  worlds: rejectionWorlds,
  columns: {
    // Each audience has a first token, and one that replaces it when it expires.
    issued: { head: 'tokens', most: ({ audiences }) => share + 2 * audiences },
    rejectedPercent: { head: '401', unit: ' %' },
    refusedPercent: { head: 'no token', unit: ' %', most: () => 0 },
    unservedMinutes: { head: 'unserved', most: () => servedWithinMinutes },
  },
};

/** The names of the figures that break a promise. */
export function brokenIn<World extends { readonly name: string }>(
  { worlds, columns }: Table<World>,
  name: string,
  figures: Figures,
): string[] {
  const world = worlds.find((candidate) => candidate.name === name);
  if (!world) throw new Error(`There is no world ${name}.`);
  const mostOf = ({ most }: Column<World>) => most?.(world) ?? Number.POSITIVE_INFINITY;
  return Object.keys(columns).filter((key) => (figures[key] ?? 0) > mostOf(columns[key] as Column<World>));
}

/** The cells of a row. What breaks a promise is bold. */
export function cellsOf<World extends { readonly name: string }>(
  table: Table<World>,
  name: string,
  figures: Figures,
): string[] {
  const broken = brokenIn(table, name, figures);
  return Object.entries(table.columns).map(([key, { unit = '' }]) => {
    return broken.includes(key) ? `**${figures[key]}${unit}**` : `${figures[key]}${unit}`;
  });
}

/** Reads the rows of the document by the names of their worlds. */
export function readTable<World extends { readonly name: string }>({ worlds, columns }: Table<World>): Rows {
  const lines = readFileSync(document, 'utf8').split('\n');
  const rows = worlds.flatMap(({ name }): [string, Figures][] => {
    const cells = lines.find((line) => line.startsWith(`| ${name} |`))?.split('|');
    const numberOf = (at: number) => Number(cells?.[at + 2]?.replace(/[*% ]/g, ''));
    const figures = Object.keys(columns).map((key, at) => [key, numberOf(at)] as const);
    return cells ? [[name, Object.fromEntries(figures)]] : [];
  });
  return new Map(rows);
}

type Rows = ReadonlyMap<string, Figures>;

function linesOf<World extends { readonly name: string }>(table: Table<World>, rows: Rows): string {
  const heads = ['world', ...Object.values(table.columns).map(({ head }) => head)];
  const lines = [...rows].map(([name, figures]) => [name, ...cellsOf(table, name, figures)]);
  const ruler = `| --- |${' ---: |'.repeat(heads.length - 1)}`;
  return [`| ${heads.join(' | ')} |`, ruler, ...lines.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}

/** The document's text. Rows that are not among these stay as they are. */
export function render(tried: Rows): string {
  const rowsOf = <World extends { readonly name: string }>(table: Table<World>): Rows => {
    const known = readTable(table);
    const rows = table.worlds.map(({ name }) => [name, tried.get(name) ?? known.get(name)] as const);
    return new Map(rows.flatMap(([name, figures]) => (figures ? [[name, figures] as const] : [])));
  };
  const outages = rowsOf(outageTable);
  const broken = [...outages].flatMap(([name, figures]) => brokenIn(outageTable, name, figures));
  const count = (key: string) => broken.filter((each) => each === key).length;
  return `# Worlds of outages

A fleet asks for tokens all the time, and the token endpoint fails it for hours or days, for all audiences or for some. Each row is one such world, in virtual time, through the public interface of
\`@service-auth/core\`: two or three processes that each ask for all audiences, or one process for each audience where processes are killed. A request that fails is answered 503, and issues no token,
if the row does not say otherwise. The limit is 150 tokens a day with a durable store, of which 120 are usable, if the row does not say otherwise.

- **unknown**: the largest part of what may be issued that was of unknown outcome at one time. Promised: about half, and never more than three quarters.
- **wait**: the longest that a caller waited for a token, in minutes, while requests for its audience work. It counts from the last request for that audience that failed. Promised: 80 minutes, or 6
  hours if less than 120 tokens are usable, or the record is new.
- **locked out**: the longest that the limit refused such a caller, in minutes, although the endpoint had issued less than it may. Promised: never.

**Bold: today's code breaks the promise.** Of several seeds the worst counts; of tokens and requests, the most.

Written by \`pnpm worlds\`, with the seeds ${usualSeeds.join(', ')}. Of ${outages.size} worlds, ${count('unknownPercent')} break the promise about unknown outcomes, ${count('waitMinutes')} that about waits, and ${count('lockedOutMinutes')} that about the limit.
The limit itself was never exceeded.

${linesOf(outageTable, outages)}

## When the API answers 401

Two processes ask the API of each audience once a minute, at four routes in turn, for two days.

- **tokens**: the most that were issued within 24 hours. Promised: a third of the 120 usable ones for renewals after 401s, and two for each audience besides.
- **401**: callers who got a 401.
- **no token**: callers who got no token. Promised: none.
- **unserved**: the longest in which a route served nobody, although it would have accepted a new token, in minutes. Promised: the next request, so at most ${servedWithinMinutes}.

${linesOf(rejectionTable, rowsOf(rejectionTable))}
`;
}
