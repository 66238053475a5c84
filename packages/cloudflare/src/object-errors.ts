/**
 * The marks that the platform gives to the error of a call.
 * https://developers.cloudflare.com/durable-objects/best-practices/error-handling/
 */
interface ObjectError {
  readonly message?: string;
  /** Another attempt may succeed. */
  readonly retryable?: boolean;
  /** The object gets more calls than it can answer. */
  readonly overloaded?: boolean;
  /** The platform restarted the object. */
  readonly durableObjectReset?: boolean;
}

/** The object's answer is not one of our class. */
export class WrongObject extends Error {}

/** Another part of the platform answered that the object failed. */
export class NotRunning extends Error {}

const withoutSqlite = 'SQL is not enabled';
const withoutHandler = 'does not export a fetch()';

/** Another attempt may succeed, and does no harm: both operations may be executed twice. */
export function isTransient(error: unknown): boolean {
  const { message = '', retryable, overloaded, durableObjectReset } = (error ?? {}) as ObjectError;
  return overloaded !== true && !message.includes(withoutSqlite) && (retryable === true || durableObjectReset === true);
}

/** Core shows the name and the advice of an error, and never its message. */
export function explained(error: unknown): Error {
  const { message = '', overloaded } = (error ?? {}) as ObjectError;
  if (overloaded === true) {
    return advised(
      'Overloaded',
      'the Durable Object gets more calls than it can answer. Create the client at the level of the module, and ask for the token once in a request.',
    );
  }
  if (message.includes(withoutSqlite)) {
    return advised(
      'NoSqlite',
      'the class has no SQLite: list ServiceAuthStore under new_sqlite_classes of a migration and not under new_classes, or under exports with the storage sqlite.',
    );
  }
  if (error instanceof NotRunning) {
    return advised(
      'NotRunning',
      'the Worker that has the class does not answer. Is script_name its name? On your machine start both: wrangler dev -c orders/wrangler.jsonc -c other/wrangler.jsonc.',
    );
  }
  if (error instanceof WrongObject || message.includes(withoutHandler)) {
    return advised('WrongObject', 'bind the class ServiceAuthStore of @service-auth/cloudflare, and no other class.');
  }
  return advised('DurableObjectError', 'the log of the Worker has the message, see `wrangler tail`.', message);
}

function advised(name: string, advice: string, message: string = advice): Error {
  return Object.assign(new Error(message), { name, advice });
}
