/** What a reader answered. An empty answer excludes no store. */
export interface StoreAnswers {
  /** A text of the column "runs in". */
  place: string;
  /** Texts of the column "you have". */
  has: string[];
  /** One of {@link sharings}. */
  sharing: string;
  /** One of {@link failures}. */
  failure: string;
}

/** Each contains the ones before. */
export const sharings: readonly string[] = ['one process', 'one machine', 'several machines'];
/** Who survives one survives the ones before. */
export const failures: readonly string[] = ['nothing', 'a crash', 'a failover'];
export const places: readonly string[] = ['a server', 'a function', 'Workers'];
export const belongings: readonly string[] = [
  'SQLite',
  'PostgreSQL',
  'MySQL or MariaDB',
  'AWS',
  'Redis or Valkey',
  'Cloudflare',
  'another store',
];

/** The cells of a row of the table: you have, store, it needs, runs in, shared by, keeps the count through. */
export type StoreRow = readonly string[];

/** Returns whether a store fits the answers. */
export function fits(
  [owned = '', , needs = '', place = '', sharing = '', failure = '']: StoreRow,
  answers: StoreAnswers,
): boolean {
  const needsNoStore = needs === 'nothing' || needs.includes('local disk');
  // Whoever runs Workers has Cloudflare.
  const has = answers.place === 'Workers' ? [...answers.has, 'Cloudflare'] : answers.has;
  return (
    (answers.place === '' || place === 'anywhere' || place.includes(answers.place)) &&
    (answers.has.length === 0 || needsNoStore || has.some((thing) => owned.includes(thing))) &&
    reaches(sharings, sharing, answers.sharing) &&
    reaches(failures, failure, answers.failure)
  );
}

/** Whether a cell names the level that was asked for, or a higher one. */
function reaches(levels: readonly string[], cell: string, asked: string): boolean {
  return asked === '' || levels.slice(levels.indexOf(asked)).some((level) => cell.includes(level));
}
