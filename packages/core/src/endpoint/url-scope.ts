const loopbackHost = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
// URL parsers disagree about backslashes, white space and control characters, or remove them.
const ambiguous = /[\\\s\p{Cc}]/u;

// A path that is decoded has one of these if some server would leave the directory, end the path early, or read other bytes: two dots as a segment, which may
// have parameters (`..;x`); a control character; and UTF-8 of more bytes than necessary, which some decoders accept (RFC 3629 section 10).
const misleading = /(^|[/\\])\.\. *([/\\;?#]|$)|[^ -~\x80-\xbf\xc2-\xff]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]/;

/** Parses an address, or returns its problem. The problem does not quote the address, which may contain credentials. */
export function parseAddress(value: unknown, allowInsecureHttp: boolean): URL | string {
  if (!(value instanceof URL) && typeof value !== 'string') return 'must be a URL or a string';
  const text = String(value);
  if (text.length > 2_048) return 'must be at most 2,048 characters long';
  if (ambiguous.test(text)) return 'must not contain white space, control characters or backslashes';
  const url = parse(text);
  if (!url) return 'must be an absolute URL such as https://auth.example.com';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username || url.password) return 'must not contain credentials';
  if (text.includes('?') || text.includes('#')) return 'must not contain a query or a fragment';
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url)) {
    return 'must begin with https:// (http: only on loopback, or with allowInsecureHttp: true)';
  }
  return url;
}

/** Returns the problem of an address that servers read in different ways. Its token endpoint could have two names, and so two budgets. */
export function ambiguityOf({ hostname, pathname }: URL): string | undefined {
  if (/^\.|\.\.|^\.?$/.test(hostname)) return 'must not contain an empty label in its host name';
  try {
    // Some servers decode these before they read the path, and some do not.
    if (!/%(2f|5c|25|[01][\da-f]|7f)/i.test(decodeURIComponent(pathname) && pathname)) return undefined;
  } catch {
    // A percent sign does not begin an encoded character of UTF-8.
  }
  return 'must not contain an encoded slash, backslash, percent sign or control character, or a percent sign that encodes nothing';
}

/**
 * Returns the name of the token endpoint under `authUrl`. It names the record and is part of each seal. All spellings of an address have one name.
 * Some servers take certain addresses for different ones: http and https, doubled slashes, and the case of the path. Here they have one name
 * and share one limit.
 */
export function endpointName({ hostname, port, pathname }: URL): string {
  const host = hostname
    .replace(/\.$/, '')
    .replace(/^\[::ffff:([\da-f]+):([\da-f]+)\]$/, (_, high, low) => ipv4(high, low));
  const isDefault = port === '' || port === '80' || port === '443';
  const segments = decodeURIComponent(pathname).normalize('NFC').toLowerCase().split('/').filter(Boolean);
  const path = [...segments, 'oauth', 'token'].map((segment) => `/${encodeURIComponent(segment)}`).join('');
  return `https://${host}${isDefault ? '' : `:${port}`}${path}`;
}

/** Returns the usual spelling of an IPv4 address within an IPv6 address (RFC 4291 section 2.5.5.2). */
function ipv4(high: string, low: string): string {
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join('.');
}

/** Returns whether the address belongs to this machine. Nobody else can read requests to it. */
export function isLoopback({ hostname }: URL): boolean {
  return loopbackHost.test(hostname);
}

/** Returns the address of the token endpoint. */
export function tokenEndpointOf(authUrl: URL): string {
  return `${authUrl.origin}${authUrl.pathname.replace(/\/+$/, '')}/oauth/token`;
}

/** Creates `covers()`: it returns whether a URL has the origin of `baseUrl` and lies at or below its path, in any spelling. */
export function urlScope(baseUrl: URL | undefined): (url: string | URL) => boolean {
  if (!baseUrl) return () => false;
  const { origin } = baseUrl;
  const path = baseUrl.pathname.replace(/\/+$/, '');
  const prefix = `${origin}/`;
  return (url) => {
    const text = String(url);
    // Nothing after the origin and a slash changes the origin. If `baseUrl` has no path, that is enough.
    if (path === '' && text.startsWith(prefix)) return true;
    // Some clients accept a space within a URL. Every parser encodes it, so it is not ambiguous.
    const encoded = text.replaceAll(' ', '%20');
    if (ambiguous.test(encoded)) return false;
    const target = parse(encoded);
    // Do not use `target.origin`: a blob: URL has the origin of the page that created it.
    if (!target || `${target.protocol}//${target.host}` !== origin || target.username || target.password) return false;
    if (path === '') return true;
    if (isMisleading(target.pathname)) return false;
    return target.pathname === path || target.pathname.startsWith(`${path}/`);
  };
}

/** Returns whether a server that decodes a path once or several times could read another path in it, or whether it is encoded too often to tell. */
function isMisleading(path: string, decodings = 5): boolean {
  // It decodes each byte by itself, and `%u002e` as some servers do. `decodeURIComponent` throws at bytes that are no UTF-8.
  const decoded = unescape(path);
  if (decoded === path) return misleading.test(path);
  return decodings === 0 || isMisleading(decoded, decodings - 1);
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
