import fc from 'fast-check';

const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((value) => String.fromCodePoint(value));

/** Any text of at most `maxLength` characters, and the names of members that all objects have. fast-check's unit `binary` needs seconds for a table of all characters. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.oneof(fc.string({ maxLength, unit: codePoint }), fc.string({ maxLength }));
}
