const loopbackHost = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
// What URL parsers disagree about, or silently remove: backslashes, white space and control characters.
const ambiguous = /[\\\s\p{Cc}]/u;

// Two dots and a separator, where the URL parser leaves one of them in place because it is encoded, once or several times, or begins a path parameter.
const dot = '(?:\\.|%(?:25)*2e)';
const dotsInDisguise = new RegExp(
  `${dot}{2}(?:%(?:25)*(?:2f|5c|3b)|;)|%(?:25)*(?:2f|5c)${dot}{2}|${dot}%(?:25)+2e|%(?:25)+2e${dot}`,
  'i',
);

/** Why an address cannot be used, or the address. Never quotes it: it may contain credentials. */
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

/** Why the token endpoint under an address could have two names of which nobody can know that they are one; undefined if it has one name. */
export function ambiguityOf({ hostname, pathname }: URL): string | undefined {
  if (/^\.|\.\.|^\.?$/.test(hostname)) return 'must not contain an empty label in its host name';
  // Whether a server decodes these before it looks at the path is up to the server.
  if (/%(2f|5c|25|[01][\da-f]|7f)/i.test(pathname)) {
    return 'must not contain an encoded slash, backslash, percent sign or control character';
  }
  try {
    decodeURIComponent(pathname);
    return undefined;
  } catch {
    return 'must not contain a percent sign that does not begin an encoded character of UTF-8';
  }
}

/**
 * The name of the token endpoint under `authUrl`, the same for every spelling: its record is kept under this name, and its tokens are sealed with it.
 * Where servers differ it takes two addresses for one (http and https, doubled slashes, upper and lower case of the path): then they share one limit.
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

/** The usual spelling of an IPv4 address within an IPv6 address (RFC 4291, section 2.5.5.2). */
function ipv4(high: string, low: string): string {
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join('.');
}

/** Whether the address is one of this machine, where nobody else reads what is sent. */
export function isLoopback({ hostname }: URL): boolean {
  return loopbackHost.test(hostname);
}

/** Where tokens of `authUrl` are requested. */
export function tokenEndpointOf(authUrl: URL): string {
  return `${authUrl.origin}${authUrl.pathname.replace(/\/+$/, '')}/oauth/token`;
}

/** Whether a token may be sent to a URL: to the origin of `baseUrl`, at or below its path, however the URL is spelt. */
export function urlScope(baseUrl: URL | undefined): (url: string | URL) => boolean {
  if (!baseUrl) return () => false;
  const { origin } = baseUrl;
  const path = baseUrl.pathname.replace(/\/+$/, '');
  const prefix = `${origin}/`;
  return (url) => {
    const text = String(url);
    // After the origin and a slash nothing can lead elsewhere; without a path to stay under, no parser is needed.
    if (path === '' && text.startsWith(prefix)) return true;
    // Some clients accept a raw space within a URL. Every parser encodes it, so it is not ambiguous.
    const encoded = text.replaceAll(' ', '%20');
    if (ambiguous.test(encoded)) return false;
    const target = parse(encoded);
    // Not its `origin`: that of a blob: URL is the one of the page that made it.
    if (!target || `${target.protocol}//${target.host}` !== origin || target.username || target.password) return false;
    if (path === '') return true;
    // A server that decodes once or twice, or removes path parameters (`..;x`), before it resolves dots would leave the path.
    if (dotsInDisguise.test(target.pathname)) return false;
    return target.pathname === path || target.pathname.startsWith(`${path}/`);
  };
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
