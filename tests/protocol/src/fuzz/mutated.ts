import { anyText } from '@service-auth/test-tools/any-text';
import fc from 'fast-check';

interface Edit {
  readonly kind: 'flip' | 'remove' | 'insert' | 'repeat' | 'truncate';
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

/** Texts of a corpus, damaged a few times: bits flipped, parts removed, repeated, cut off, and replaced by what is known to be trouble. */
export function mutated(corpus: readonly string[], trouble: readonly string[]): fc.Arbitrary<string> {
  const edit: fc.Arbitrary<Edit> = fc.record({
    kind: fc.constantFrom('flip', 'remove', 'insert', 'repeat', 'truncate'),
    at: fc.nat(65_535),
    length: fc.nat(40),
    text: fc.oneof(fc.constantFrom(...trouble), fc.constantFrom(...corpus), anyText(20)),
  });
  return fc
    .tuple(fc.constantFrom(...corpus), fc.array(edit, { maxLength: 5 }))
    .map(([text, edits]) => edits.reduce(apply, text));
}

function apply(before: string, { kind, at: anywhere, length, text }: Edit): string {
  const at = anywhere % (before.length + 1);
  const [start, middle, end] = [before.slice(0, at), before.slice(at, at + length), before.slice(at + length)];
  switch (kind) {
    case 'flip':
      return start + String.fromCharCode(before.charCodeAt(at) ^ (1 << (length % 8))) + before.slice(at + 1);
    case 'remove':
      return start + end;
    case 'insert':
      return start + text + middle + end;
    case 'repeat':
      return start + middle.repeat(1 + (length % 50)) + end;
    case 'truncate':
      return start;
  }
}
