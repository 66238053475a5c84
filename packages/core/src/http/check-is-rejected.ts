/**
 * Checks the option `isRejected` of an adapter. `adapter` is the name of the adapter's package, for
 * the message.
 * @throws `TypeError` if it is given and no function
 */
export function checkIsRejected(isRejected: unknown, adapter: string): void {
  if (isRejected === undefined || typeof isRejected === 'function') return;
  throw new TypeError(`[service-auth/${adapter}] The option \`isRejected\` must be a function.`);
}
