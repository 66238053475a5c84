import { expect, test } from 'vitest';
import { quotedName } from '../../src/sql/names.ts';

test('a name stands in quotes, with its schema and a suffix', () => {
  expect(quotedName('tokens', '"', 58, 'postgres')).toBe('"tokens"');
  expect(quotedName('app.tokens', '`', 59, 'mysql')).toBe('`app`.`tokens`');
  expect(quotedName('app.tokens', '"', 58, 'postgres', '_load')).toBe('"app"."tokens_load"');
});

test.each(['', 'a b', 'a;b', '"a"', '`a`', "a'", 'a.b.c', '.a', 'a.', '1a', 'ä', 'a-b', 'a\n', null, undefined, 7])(
  '%j is refused, because it is no name',
  (name) => {
    expect(() => quotedName(name as never, '"', 58, 'postgres')).toThrow(
      new TypeError(
        '[service-auth/postgres] table must be a name of letters, digits and underscores, 58 at most, with or without a schema',
      ),
    );
  },
);

test('a table leaves room for its suffix, and a schema needs none', () => {
  expect(quotedName('a'.repeat(58), '"', 58, 'postgres')).toHaveLength(60);
  expect(() => quotedName('a'.repeat(59), '"', 58, 'postgres')).toThrow(TypeError);
  expect(quotedName(`${'s'.repeat(63)}.a`, '"', 58, 'postgres')).toHaveLength(69);
  expect(() => quotedName(`${'s'.repeat(64)}.a`, '"', 58, 'postgres')).toThrow(TypeError);
});
