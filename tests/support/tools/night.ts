/** True under `pnpm check --night`: tests then try what the day has no time for, more of each kind that the day tries. */
export const isNight: boolean = process.env['NIGHT'] === 'true';

/** Returns all of them by night, and by day those that `isTried` picks. */
export function byDay<Item>(all: readonly Item[], isTried: (item: Item) => boolean): readonly Item[] {
  return isNight ? all : all.filter(isTried);
}
