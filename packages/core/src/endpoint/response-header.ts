import type { TransportResponse } from '../contract/transport.ts';
import { ownProperty } from '../platform/untrusted.ts';

/**
 * Returns the value of a header of an answer. The values of one that came several times are joined by
 * commas (RFC 9110 section 5.3). Empty: there is none, or it cannot be read.
 */
export function headerOf({ headers }: TransportResponse, name: string): string {
  try {
    const value: unknown = typeof headers?.get === 'function' ? headers.get(name) : ownProperty(headers, name);
    return Array.isArray(value) ? value.join(', ') : `${value ?? ''}`.trim();
  } catch {
    return '';
  }
}

/** Returns the values that were joined by commas. The comma of a date separates nothing. */
export function valuesIn(header: string): string[] {
  return header.split(/,(?! *\d\d [A-Z])/).map((value) => value.trim());
}
