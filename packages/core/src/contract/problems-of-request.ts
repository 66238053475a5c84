import { parseAddress } from '../platform/address.ts';
import { isPlain } from '../platform/untrusted.ts';
import { problemOfInteger, problemOfText, reportTo } from './config-problems.ts';
import type { ConfigProblem } from './errors.ts';

// A secret must be neither one of the parameters nor in the query, because the record and events
// name them.
const reserved =
  /^(grant_type|client_id|audience|scope|resource|code|username|sig)$|secret|password|assertion|(key|token|signature)$/i;
const scopeText = /^[!#-[\]-~]+( [!#-[\]-~]+)*$/;
// The headers that authenticate, that describe the body, or that belong to the connection (RFC 9110
// sections 6.4, 7, 8 and 11).
const reservedHeader =
  /^(authorization|connection|content-(encoding|length|type)|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;
const httpToken = /^[\w!#$%&'*+.^`|~-]+$/;
const absoluteUri = /^[a-z][a-z\d+.-]*:[!"$-~]+$/i;

/** Returns the problems of the options that say which token is requested, and where. */
export function problemsOfRequest(options: Readonly<Record<string, unknown>>): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems);
  const { tokenEndpoint, scope, resource, parameters, recognizedTokenTypes, scheme, lifetimeMs } = options;

  const scopes = listOf(scope).join(' ');
  if (scope !== undefined && !(scopes.length <= 4_096 && scopeText.test(scopes)))
    report('scope', 'must be names with one space between them (RFC 6749 appendix A.4), at most 4,096 characters');

  const resources = listOf(resource);
  if (resource !== undefined && !(resources.length > 0 && resources.every((uri) => absoluteUri.test(uri))))
    report('resource', 'must be absolute URIs without fragments');

  const isObject = typeof parameters === 'object' && parameters !== null && isPlain(parameters);
  if (parameters !== undefined && !isObject) report('parameters', 'must be an object of names and values');
  const named = Object.entries(isObject ? parameters : {});
  for (const [name, value] of named) {
    // A text that is no name may be a whole query, or JSON with a secret in it.
    const isName = /^[\w.-]+$/.test(name);
    report(
      isName ? `parameters.${name}` : 'parameters',
      isName && !reserved.test(name)
        ? problemOfText(value, 4_096)
        : 'must not be given: it is set by another option, is no name (RFC 6749 section 8.2), or would be a secret in the record',
    );
  }
  if (listOf([resources, named].flat(2)).join('').length > 12_000)
    report('parameters', 'must be at most 12,000 characters with the resources');

  const endpoint = parseAddress(tokenEndpoint, true, true);
  const query = endpoint instanceof URL ? [...endpoint.searchParams.keys()] : [];
  if (query.some((name) => reserved.test(name)))
    report('tokenEndpoint', 'must not contain parameters of the token request, or a secret, in its query');
  const types = recognizedTokenTypes;
  if (types !== undefined && !(Array.isArray(types) && types.every((type) => !problemOfText(type, 100))))
    report('recognizedTokenTypes', 'must be a list of texts');
  problems.push(...problemsOfHeaders(options['headers']));
  if (scheme !== undefined && !(typeof scheme === 'string' && scheme.length <= 64 && httpToken.test(scheme)))
    report('scheme', 'must be one word, such as Bearer, without the space after it (RFC 9110 section 11.1)');
  if (lifetimeMs !== undefined) report('lifetimeMs', problemOfInteger(lifetimeMs, 60_000, 2_678_400_000));
  return problems;
}

/**
 * Returns the problems of further headers. Their values are secrets, and a text without a value may
 * be one.
 */
function problemsOfHeaders(headers: unknown): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems);
  if (headers === undefined) return problems;
  if (typeof headers !== 'object' || headers === null || !isPlain(headers)) {
    report('headers', 'must be an object of names and values');
    return problems;
  }
  const known = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const option = `headers.${name}`;
    if (!httpToken.test(name) || name.length > 100)
      report('headers', 'must have names of headers (RFC 9110 section 5.1)');
    else if (value === '') report('headers', 'has a name without a value');
    else if (reservedHeader.test(name)) report(option, 'must not be given: another option sets it, or the connection');
    else if (known.has(name.toLowerCase())) report(option, 'is there twice, in upper and lower case');
    else report(option, problemOfText(value, 4_096) ?? problemOfAscii(value));
    known.add(name.toLowerCase());
  }
  return problems;
}

function problemOfAscii(text: unknown): string | undefined {
  return /[^ -~]/.test(`${text}`) ? 'must be visible ASCII characters and spaces' : undefined;
}

/**
 * Returns a list of texts for a list, or for one text. Any other value becomes a text that is
 * refused.
 */
function listOf(value: unknown): string[] {
  return [value ?? []].flat().map((part) => (typeof part === 'string' ? part : ''));
}
