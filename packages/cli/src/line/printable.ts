// Controls, formats such as marks of direction, ends of lines and paragraphs, and halves of
// characters: a terminal obeys some of them.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text of others, for one line of a terminal. What nobody can see becomes its escape. */
export function printable(text: string): string {
  return text.replace(unprintable, escaped);
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** JSON in one line, with the same characters as escapes. It has the same meaning as without. */
export function printableJson(value: unknown): string {
  return printable(JSON.stringify(value));
}

/** The form of JSON: an escape for each UTF-16 unit. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
