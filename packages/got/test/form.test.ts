import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { rememberForm, replayOf } from '../src/form.ts';

const stream = Readable.from(['x']);

test.each<[kind: string, body: unknown]>([
  ['a text', 'text'],
  ['a view of a buffer', new Uint8Array(1)],
  ['no body', undefined],
])('%s is sent again as it is, and not remembered', (_, body) => {
  const request = { body, headers: {}, context: {} } as never;
  rememberForm(request);
  expect(request).toMatchObject({ context: {} });
  expect(replayOf(request)).toEqual({});
});

test('a form is sent again with its content type when got has replaced it by a stream', () => {
  const body = new FormData();
  const context = {};
  rememberForm({ body, headers: { 'content-type': 'multipart/form-data; boundary=own', accept: '*' }, context });
  expect(replayOf({ body: stream, context })).toEqual({
    body,
    headers: { 'content-type': 'multipart/form-data; boundary=own' },
  });
});

test.each<[kind: string, body: unknown]>([
  ['a stream', stream],
  [
    'a form of the package form-data',
    Object.defineProperty(Readable.from(['x']), Symbol.toStringTag, { value: 'FormData' }),
  ],
  ['an iterator', [][Symbol.iterator]()],
])('%s is not sent again', (_, body) => {
  const request = { body, headers: {}, context: {} } as never;
  rememberForm(request);
  expect(replayOf(request)).toBeUndefined();
});

test('what somebody put on Object.prototype is no remembered form', () => {
  Object.defineProperty(Object.prototype, 'serviceAuthForm', { value: { body: 'other' }, configurable: true });
  try {
    expect(replayOf({ body: stream, context: {} })).toBeUndefined();
  } finally {
    Reflect.deleteProperty(Object.prototype, 'serviceAuthForm');
  }
});
