// Options, answers of stores and endpoints, and errors come from outside. None of them is trusted,
// and neither is `Object.prototype`.

/**
 * Creates objects that inherit nothing. With `null` as their prototype an engine keeps them in a
 * slower form, and `Object.create()` takes longer.
 */
class Own {}
Reflect.deleteProperty(Own.prototype, 'constructor');
Object.freeze(Object.setPrototypeOf(Own.prototype, null));

/**
 * Returns an own property of `value`, never one of a polluted prototype. Undefined: there is no
 * such property, or reading it throws.
 */
export function ownProperty(value: unknown, name: PropertyKey): unknown {
  try {
    return Object.hasOwn(Object(value), name) ? (value as Record<PropertyKey, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}

/** Returns an own property of a foreign value that is a text. */
export function ownText(value: unknown, name: string): string | undefined {
  const text = ownProperty(value, name);
  return typeof text === 'string' ? text : undefined;
}

/**
 * Returns a copy that inherits nothing, so that a polluted `Object.prototype` adds no member. Use
 * it for values from outside, and for options that the platform gets, because the platform reads
 * missing members from the prototype.
 */
export function ownProperties<Whole extends object>(value: Whole): Whole;
export function ownProperties<Whole extends object>(value: Whole | false | undefined): Partial<Whole>;
export function ownProperties(value: object | false | undefined): object {
  return Object.assign(new Own(), value);
}

/**
 * Returns whether an object has no class of its own. The members of a `Map`, say, are no
 * properties, and those of a class may be inherited.
 */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

// Messages of frameworks that say what to do and have no place for a secret: Next.js, when a
// request outlives the prerendering of its page.
const safeMessage = /^During prerendering, [^.]{1,200}\./;
// React and Next.js tell errors apart by a digest.
const safeDigest = /^([A-Z_]{1,60}|\d{1,20})$/;

/**
 * Returns the name and code of a foreign error, such as `TypeError ECONNREFUSED`, and those of its
 * other parts that are known to be safe. The message is left out: it may contain a password.
 */
export function describeError(error: unknown): string {
  try {
    const { name, code, cause } = (error ?? {}) as { name?: unknown; code?: unknown; cause?: { code?: unknown } };
    const words = [name, code ?? cause?.code].filter((part) => typeof part === 'string' && /^[\w/]{1,60}$/.test(part));
    for (const each of [error, cause]) {
      const { digest, message } = (each ?? {}) as { digest?: unknown; message?: unknown };
      if (typeof digest === 'string' && safeDigest.test(digest)) words.push(digest);
      const said = typeof message === 'string' && safeMessage.exec(message);
      if (said) words.push(said[0]);
    }
    return words.join(' ') || 'unknown error';
  } catch {
    return 'unknown error';
  }
}
