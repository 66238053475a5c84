import { rejectsToken } from '@service-auth/core/http';
import type { Dispatcher } from 'undici';
import { answerHeadersOf } from './headers.ts';

/** Returns whether an answer of the API rejects the token. */
export type IsRejected = (
  response: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
) => boolean | Promise<boolean>;

/**
 * Asks the rule of the application whether an answer rejects the token. Without a rule, the status
 * decides.
 */
export function judge(
  isRejected: IsRejected | undefined,
  statusCode: number,
  headers: unknown,
): boolean | Promise<boolean> {
  return isRejected ? isRejected({ statusCode, headers: answerHeadersOf(headers) }) : rejectsToken(statusCode);
}
