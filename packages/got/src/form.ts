import { isReplayable } from '@service-auth/core/http';
import type { Options, OptionsInit } from 'got';

const key = 'serviceAuthForm';
const isForm = (body: unknown): boolean =>
  Object.prototype.toString.call(body) === '[object FormData]' && isReplayable(body);

/** Remembers the form of a request, because got replaces it by a stream before sending. */
export function rememberForm({ body, headers, context }: Pick<Options, 'body' | 'headers' | 'context'>): void {
  if (isForm(body)) context[key] = { body, headers: { 'content-type': headers['content-type'] } };
}

/** Returns the options that send the same body again. Undefined: the body can be read only once. */
export function replayOf({ body, context }: Pick<Options, 'body' | 'context'>): OptionsInit | undefined {
  if (isReplayable(body)) return {};
  return Object.hasOwn(context, key) ? (context[key] as OptionsInit) : undefined;
}
