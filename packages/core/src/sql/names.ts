/**
 * A name of letters, digits and underscores as an SQL statement has it: in quotes, with or without a schema.
 * @throws TypeError if it is no such name, or if a part is longer than `maxLength`
 */
export function quotedName(name: string, quote: '"' | '`', maxLength: number): string {
  const parts = String(name).split('.');
  const isName = (part: string) => /^[A-Za-z_]\w*$/.test(part) && part.length <= maxLength;
  if (parts.length > 2 || !parts.every(isName)) {
    // The names of the routines end in `_load` and `_swap`.
    throw new TypeError(
      `table must be a name of letters, digits and underscores, ${maxLength - '_load'.length} at most, with or without a schema`,
    );
  }
  return parts.map((part) => quote + part + quote).join('.');
}
