import { isAmbiguous, parseUrl } from '../platform/address.ts';

// A path that is decoded has one of these if some server would leave the directory, end the path
// early, or read other bytes: two dots as a segment, which may have parameters (`..;x`); a control
// character; and UTF-8 of more bytes than necessary, which some decoders accept (RFC 3629 section
// 10).
const misleading = /(^|[/\\])\.\. *([/\\;?#]|$)|[^ -~\x80-\xbf\xc2-\xff]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]/;

/**
 * Returns the problem of an address that servers read in different ways. Its token endpoint could
 * have two names, and so two budgets.
 */
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
 * Returns the name of a token endpoint, or of an issuer. It names the record and is part of each
 * seal. All spellings of an address have one name. Some servers take certain addresses for
 * different ones: http and https, doubled slashes, and the case of the path. Here they have one
 * name and share one limit.
 */
export function endpointName({ hostname, port, pathname }: URL): string {
  const host = hostname
    .replace(/\.$/, '')
    .replace(/^\[::ffff:([\da-f]+):([\da-f]+)\]$/, (_, high, low) => ipv4(high, low));
  const isDefault = port === '' || port === '80' || port === '443';
  const segments = decodeURIComponent(pathname).normalize('NFC').toLowerCase().split('/').filter(Boolean);
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
  return `https://${host}${isDefault ? '' : `:${port}`}${path}`;
}

/**
 * Returns the usual spelling of an IPv4 address within an IPv6 address (RFC 4291 section 2.5.5.2).
 */
function ipv4(high: string, low: string): string {
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join('.');
}

/** Returns the address of the token endpoint. */
export function tokenEndpointOf(authUrl: URL): string {
  return `${authUrl.origin}${authUrl.pathname.replace(/\/+$/, '')}/oauth/token`;
}

/**
 * Creates `covers()`: it returns whether a URL has the origin of `baseUrl` and lies at or below its
 * path, in any spelling. The token endpoint is never covered: a token request that goes through an
 * HTTP client of ours would wait for the very token that it requests.
 */
export function urlScope(baseUrl: URL | undefined, tokenUrl: string): (url: string | URL) => boolean {
  if (!baseUrl) return () => false;
  const { origin } = baseUrl;
  const path = baseUrl.pathname.replace(/\/+$/, '');
  const prefix = `${origin}/`;
  const endpoint = parseUrl(tokenUrl);
  const own = endpoint?.origin === origin ? endpoint : undefined;
  const ownSegment = own?.pathname.split('/').findLast(Boolean) ?? '';
  return (url) => {
    const text = String(url);
    // Nothing after the origin and a slash changes the origin. If `baseUrl` has no path, that is
    // enough.
    if (path === '' && text.startsWith(prefix) && !(own && text.includes(ownSegment))) return true;
    // Some clients accept a space within a URL. Every parser encodes it, so it is not ambiguous.
    const encoded = text.replaceAll(' ', '%20');
    if (isAmbiguous(encoded)) return false;
    const target = parseUrl(encoded);
    // Do not use `target.origin`: a blob: URL has the origin of the page that created it.
    if (!target || `${target.protocol}//${target.host}` !== origin || target.username || target.password) return false;
    if (own && isAt(own, target)) return false;
    if (path === '') return true;
    if (isMisleading(target.pathname)) return false;
    return target.pathname === path || target.pathname.startsWith(`${path}/`);
  };
}

/**
 * Returns whether a URL has the path of an endpoint, and its query among its own: one path may
 * serve many things.
 */
function isAt(endpoint: URL, { pathname, searchParams }: URL): boolean {
  return (
    pathname === endpoint.pathname &&
    [...endpoint.searchParams].every(([name, value]) => searchParams.getAll(name).includes(value))
  );
}

/**
 * Returns whether a server that decodes a path once or several times could read another path in it,
 * or whether it is encoded too often to tell.
 */
function isMisleading(path: string, decodings = 5): boolean {
  // It decodes each byte by itself, and `%u002e` as some servers do. `decodeURIComponent` throws at
  // bytes that are no UTF-8.
  const decoded = unescape(path);
  if (decoded === path) return misleading.test(path);
  return decodings === 0 || isMisleading(decoded, decodings - 1);
}
