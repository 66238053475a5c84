const loopbackHost = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
// Marks of wildcards, patterns and placeholders, and characters that no URI has (RFC 3986). `URL`
// encodes some of them.
const marks = /["*<>^`{|}]|\$(?=[A-Z_({])|%(?:22|3[CEce]|5[Ee]|60|7[BCDbcd]|(?![\dA-Fa-f]{2}))/;
// A query may have some of them, such as `scope=*`.
const marksInQuery = /[<>{}]|\$(?=[A-Z_({])/;
// URL parsers disagree about backslashes, white space and control characters, or remove them.
const ambiguous = /[\\\s\p{Cc}]/u;

/** Returns whether URL parsers disagree about a text. */
export function isAmbiguous(text: string): boolean {
  return ambiguous.test(text);
}

/**
 * Returns the problem of an address that is a pattern, or that a template left unfinished. It would
 * match no request. `url`: the address, if it can be parsed.
 */
function problemOfPattern(text: string, url: URL | undefined): string | undefined {
  const [place = '', query = ''] = text.split(/\?(.*)/s, 2);
  const [mark] = marks.exec(place) ?? marksInQuery.exec(query) ?? [];
  if (mark === '*')
    return 'must not contain *, because an address has no wildcards: write one host, and end the path before the *, for what is below a path belongs to it';
  const { hostname = '', pathname = '' } = url ?? {};
  const pattern = mark ?? /[[\]]/.exec(pathname)?.[0];
  if (pattern !== undefined)
    return `must not contain ${pattern.length === 3 ? decodeURIComponent(pattern) : pattern}, which marks a placeholder or a pattern: write the value itself`;
  const [odd] = (!hostname.startsWith('[') && /[^\w.-]/.exec(hostname)) || [];
  if (odd !== undefined) return `must not contain ${odd} in its host name: write one host`;
  const missing = [...hostname.split('.'), ...pathname.split('/')].find((part) => /^(undefined|null)$/.test(part));
  return missing && `must not contain ${missing}, which a template writes for a missing value: set that value`;
}

/**
 * Parses an address, or returns its problem. The problem does not quote the address, which may
 * contain credentials.
 */
export function parseAddress(value: unknown, allowInsecureHttp: boolean, mayHaveQuery = false): URL | string {
  if (!(value instanceof URL) && typeof value !== 'string') return 'must be a URL or a string';
  const text = String(value);
  if (text.length > 2_048) return 'must be at most 2,048 characters long';
  if (isAmbiguous(text)) return 'must not contain white space, control characters or backslashes';
  const url = parseUrl(text);
  const pattern = problemOfPattern(text.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1'), url);
  if (!url) return pattern ?? 'must be an absolute URL such as https://example.com';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username || url.password) return 'must not contain credentials';
  if (pattern !== undefined) return pattern;
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

/** Parses a URL. Undefined: the text is no URL. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
