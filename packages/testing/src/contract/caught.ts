/** All `cases` fail, and each says `words`. */
export function caught(words: RegExp, ...cases: readonly string[]): Record<string, RegExp> {
  return Object.fromEntries(cases.map((name) => [name, words]));
}
