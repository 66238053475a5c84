const longestSuffix = '_load'.length;

/**
 * A name of letters, digits and underscores as an SQL statement has it: in quotes, with or without
 * a schema. `owner` is the package that messages name. `suffix` follows the name: the routines of a
 * table have its name and `_load` or `_swap`.
 * @throws TypeError if it is no such name, or if it is longer than `maxLength` without the suffix
 */
export function quotedName(name: string, quote: '"' | '`', maxLength: number, owner: string, suffix = ''): string {
  const parts = typeof name === 'string' ? name.split('.') : [];
  const isName = (part: string, index: number) => {
    const isTable = index === parts.length - 1;
    return /^[A-Za-z_]\w*$/.test(part) && part.length <= maxLength + (isTable ? 0 : longestSuffix);
  };
  if (parts.length === 0 || parts.length > 2 || !parts.every(isName)) {
    throw new TypeError(
      `[service-auth/${owner}] table must be a name of letters, digits and underscores, ${maxLength} at most, with or without a schema`,
    );
  }
  return parts.map((part, index) => quote + part + (index === parts.length - 1 ? suffix : '') + quote).join('.');
}
