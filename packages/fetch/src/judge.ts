import { discardBody, rejectsToken } from '@service-auth/core/http';

/** Returns whether an answer of the API rejects the token. */
export type IsRejected = (response: Response) => boolean | Promise<boolean>;

/**
 * Asks the rule of the application whether an answer rejects the token. Without a rule, the status
 * decides.
 */
export function judge(isRejected: IsRejected | undefined, response: Response): boolean | Promise<boolean> {
  return isRejected ? askWithClone(isRejected, response) : rejectsToken(response.status);
}

/**
 * Asks the rule with a clone, and frees the body of the clone afterwards: otherwise what the rule
 * did not read would stay in memory for as long as the caller reads the answer.
 */
async function askWithClone(isRejected: IsRejected, response: Response): Promise<boolean> {
  const clone = response.clone();
  try {
    return await isRejected(clone);
  } finally {
    discardBody(clone.body);
  }
}
