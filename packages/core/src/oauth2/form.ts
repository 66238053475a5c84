import type { UnwrittenRequest, WrittenRequest } from '../contract/client-authentication.ts';

const headers = { 'content-type': 'application/x-www-form-urlencoded' };

/** Writes parameters as a form (RFC 6749 appendix B). */
export function formOf(
  parameters: UnwrittenRequest['parameters'],
  more?: Readonly<Record<string, string>>,
): WrittenRequest {
  const pairs = parameters.map(([name, value]): [string, string] => [name, value]);
  return { headers: { ...headers, ...more }, body: `${new URLSearchParams(pairs)}` };
}

/** Encodes one value as a form does. Most ids stay as they are. */
export function formEncoded(value: string): string {
  return `${new URLSearchParams([['', value]])}`.slice(1);
}
