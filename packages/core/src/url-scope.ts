const loopback = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;
// What URL parsers disagree about, or silently remove: backslashes, white space and control characters.
const ambiguous = /[\\\s\p{Cc}]/u;

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
  if (url.protocol === 'http:' && !allowInsecureHttp && !loopback.test(url.hostname)) {
    return 'must begin with https:// (http: only on loopback, or with allowInsecureHttp: true)';
  }
  return url;
}

/** The token endpoint under `authUrl`, in one spelling. */
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
    // A server that decodes %2F before resolving dots would leave the path.
    if (/(\.|%2e){2}(%2f|%5c)|(%2f|%5c)(\.|%2e){2}/i.test(target.pathname)) return false;
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
