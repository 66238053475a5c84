import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { isReplayable } from '../../src/http/index.ts';

test.each<[string, unknown]>([
  ['no body', undefined],
  ['null', null],
  ['a string', 'text'],
  ['an empty string', ''],
  ['a number', 5],
  ['a Buffer', Buffer.from('text')],
  ['a view of a part of a buffer', new Uint16Array([1, 2, 3]).subarray(1)],
  ['a DataView', new DataView(new ArrayBuffer(2))],
  ['an ArrayBuffer', new ArrayBuffer(2)],
  ['an ArrayBuffer of another realm', runInNewContext('new ArrayBuffer(2)')],
  ['a Blob', new Blob(['text'])],
  ['a File', new File(['text'], 'name')],
  ['a FormData', new FormData()],
  ['parameters', new URLSearchParams({ a: 'b' })],
])('%s can be sent a second time', (_, body) => expect(isReplayable(body)).toBe(true));

test.each<[string, unknown]>([
  ['a stream of the web', new Blob(['text']).stream()],
  ['a stream of Node', Readable.from(['text'])],
  ['an iterator', ['text'][Symbol.iterator]()],
  ['a form of the package form-data', { [Symbol.toStringTag]: 'FormData', pipe() {} }],
  ['a function', () => 'text'],
  ['a plain object', { a: 'b' }],
])('%s cannot', (_, body) => expect(isReplayable(body)).toBe(false));
