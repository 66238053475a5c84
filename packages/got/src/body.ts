import type { Options, OptionsInit } from 'got';

const key = 'serviceAuthForm';
const isForm = (body: unknown): boolean =>
  Object.prototype.toString.call(body) === '[object FormData]' && !('pipe' in Object(body));

/** Remembers a form: got replaces it by a stream before it sends it. */
export function rememberForm({ body, headers, context }: Pick<Options, 'body' | 'headers' | 'context'>): void {
  if (isForm(body)) context[key] = { body, headers: { 'content-type': headers['content-type'] } };
}

/** What it takes to send a body a second time; undefined if it was a stream or an iterator, which are read once. */
export function replayOf({ body, context }: Pick<Options, 'body' | 'context'>): OptionsInit | undefined {
  if (Object(body) !== body) return {};
  if (context[key]) return context[key];
  const isStream = ['pipe', 'getReader', 'next'].some((method) => method in (body as object));
  return isStream ? undefined : {};
}
