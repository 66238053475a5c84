import { expect, test } from 'vitest';
import { hideProperty } from '../src/redact-error.ts';

test('a hidden property is kept, and no longer printed', () => {
  const part = { secret: 's', other: 1 };
  hideProperty(part, 'secret');
  expect(JSON.stringify(part)).toBe('{"other":1}');
  expect(part.secret).toBe('s');
});

test.each([undefined, null, 'text', Object.freeze({ secret: 's' }), {}])(
  'hiding a property of %s throws nothing',
  (part) => hideProperty(part, 'secret'),
);

test('the property of a prototype is left alone', () => {
  const prototype = { secret: 's' };
  hideProperty(Object.create(prototype), 'secret');
  expect(Object.keys(prototype)).toEqual(['secret']);
});
