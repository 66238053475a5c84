import { rejectsToken } from '@service-auth/core/http';
import type { Response } from 'got';

/** Returns whether an answer of the API rejects the token. */
export type IsRejected = (
  response: Pick<Response, 'statusCode' | 'headers'> & Partial<Response>,
) => boolean | Promise<boolean>;

/**
 * Asks the rule of the application whether an answer rejects the token. Without a rule, the status
 * decides.
 */
export function judge(isRejected: IsRejected | undefined, response: Response): boolean | Promise<boolean> {
  const { statusCode, headers, request } = response;
  if (!isRejected) return rejectsToken(statusCode);
  return isRejected(request.options.isStream ? { statusCode, headers } : response);
}
