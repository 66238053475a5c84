import type { Store } from '@service-auth/core';
import { certificateAdvice } from '../line/certificates.ts';

/** Adds advice to errors. `create`: creates a missing table, for a command that writes. */
export function explainingStore(
  store: Store,
  create: (() => Promise<unknown>) | undefined,
  explain: (error: unknown) => unknown = (error) => error,
): Store {
  async function load(...call: Parameters<Store['load']>) {
    try {
      return await store.load(...call);
    } catch (error) {
      if (Object(error).name !== 'MissingTable') throw explain(error);
      if (!create) {
        const advice = 'no program has used it yet, or the address names another table or database.';
        throw Object.assign(new Error('missing'), { name: 'MissingTable', advice });
      }
    }
    try {
      await create();
    } catch (error) {
      throw explain(error);
    }
    return store.load(...call);
  }
  return { ...store, load };
}

export interface ConnectionErrors {
  readonly name: string;
  readonly host: string;
  /** What to do about a certificate that no known authority has signed. */
  readonly remedy: string;
  /** What the host does, by the code of the error, or by the message of one without code. */
  readonly advices: Readonly<Record<string, string>>;
}

/** What a host did. */
export const wrongPassword = 'did not accept the user and password of SERVICE_AUTH_STORE.';

/** What to ask about a host that does not answer. */
export function isItThere(host: string): string {
  return `is ${host} the right address, and does it listen there?`;
}

/**
 * Adds advice to an error of a connection. Core shows the name, the code and the advice. The store
 * knows what to do about other errors.
 */
export function explained(error: unknown, { name, host, remedy, advices }: ConnectionErrors): unknown {
  const { code = '', message = '' } = Object(error) as { code?: string; message?: string };
  const certificate = certificateAdvice(code, remedy);
  const known = certificate ? `: ${certificate}` : advices[code || message] && ` ${advices[code || message]}`;
  const isSystem = /^E(?!R_)[A-Z_]+$/.test(code);
  if (!known && !isSystem) return error;
  const advice = known ? `${host}${known}` : isItThere(host);
  return Object.assign(new Error('failed'), { name, ...(code && { code }), advice });
}
