import type { Hop } from './redirect.ts';

/** A form of the package form-data. On Node, axios makes one of a plain object, too. */
interface PackageForm {
  /** The header, the value and the end of each field. The form removes what it has sent. */
  readonly _streams: readonly unknown[];
  getBoundary(): string;
  getHeaders(): { readonly 'content-type': string };
}

const isText = (part: unknown): part is string | Uint8Array => typeof part === 'string' || part instanceof Uint8Array;

/**
 * Returns a function that gives a request its form again, as bytes. Call this before the form is
 * sent. Undefined if the body is no form of the package form-data, or if a value is a stream.
 */
export function replayOf(body: unknown): ((hop: Hop) => Hop) | undefined {
  const form: Partial<PackageForm> = Object(body);
  if (!Array.isArray(form._streams) || !form.getBoundary || !form.getHeaders) return undefined;
  const end = `--${form.getBoundary()}--\r\n`;
  const parts = form._streams.map((part, index) => (index % 3 === 2 ? '\r\n' : part));
  if (parts.length > 0) parts.push(end);
  if (!parts.every(isText)) return undefined;
  const contentType = form.getHeaders()['content-type'];
  return (hop) => {
    const headers = hop.headers.concat({ 'content-type': contentType });
    return { ...hop, data: Buffer.concat(parts.map((part) => Buffer.from(part))), headers };
  };
}
