const loopbackHost = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
// URL parsers disagree about backslashes, white space and control characters, or remove them.
const ambiguous = /[\\\s\p{Cc}]/u;

/** Returns whether URL parsers disagree about a text. */
export function isAmbiguous(text: string): boolean {
  return ambiguous.test(text);
}

/** Parses an address, or returns its problem. The problem does not quote the address, which may contain credentials. */
export function parseAddress(value: unknown, allowInsecureHttp: boolean, mayHaveQuery = false): URL | string {
  if (!(value instanceof URL) && typeof value !== 'string') return 'must be a URL or a string';
  const text = String(value);
  if (text.length > 2_048) return 'must be at most 2,048 characters long';
  if (isAmbiguous(text)) return 'must not contain white space, control characters or backslashes';
  const url = parseUrl(text);
  if (!url) return 'must be an absolute URL such as https://example.com';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username || url.password) return 'must not contain credentials';
  if ((mayHaveQuery ? /#/ : /[?#]/).test(text))
    return `must not contain ${mayHaveQuery ? '' : 'a query or '}a fragment`;
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url)) {
    return 'must begin with https:// (http: only on loopback, or with allowInsecureHttp: true)';
  }
  return url;
}

/** Returns whether the address belongs to this machine. Nobody else can read requests to it. */
export function isLoopback({ hostname }: URL): boolean {
  return loopbackHost.test(hostname);
}

/** Parses a URL. Undefined: the text is none. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
