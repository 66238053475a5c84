import { type OAuthErrorCode, oauthErrorCode } from '../ledger/oauth-error.ts';
import { ownProperty } from '../platform/untrusted.ts';
import { parseObject } from './token-response.ts';

/**
 * Returns the `error` code of an error response (RFC 6749 section 5.2). No other part of it is
 * kept, because it may contain the secret. Undefined: it is no JSON of an authorization server.
 */
export function readOAuthError(body: string): OAuthErrorCode | undefined {
  const response = parseObject(body);
  return response && oauthErrorCode(ownProperty(response, 'error'));
}

const errorName = /^err(or)?s?(_?code)?$/i;

/**
 * Returns whether a body has an error in the place of a token: as `error` (RFC 6749 section 5.2, an
 * object, or a list), as `errorCode` or as `errcode`. Some servers answer 200 with such a body. If
 * any member is named a token, one may have been issued.
 */
export function isRefusal(body: string): boolean {
  const response = parseObject(body);
  if (!response || ownProperty(response, 'access_token') !== undefined || /token"\s*:/i.test(body)) return false;
  return Object.entries(response).some(([name, value]) => errorName.test(name) && isError(value));
}

function isError(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  // Some servers send 0 if there was no error.
  return Boolean(value) && value !== '0';
}

// Codes that say "too many requests", in lower case, without separators and without the ending
// Exception.
const throttlingCodes: readonly string[] = [
  // RFC 8628 section 3.5.
  'slowdown',
  // HTTP's own words (RFC 6585 section 4): Auth0, Amazon Cognito.
  'toomanyrequests',
  // AWS: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
  'throttling',
  'throttled',
  'requestthrottled',
  'requestlimitexceeded',
  // Google: https://cloud.google.com/apis/design/errors
  'resourceexhausted',
  // Salesforce:
  // https://help.salesforce.com/apex/HTViewHelpDoc?id=xcloud.remoteaccess_oauth_flow_errors.htm
  'ratelimitexceeded',
  // PayPal: https://developer.paypal.com/api/rest/reference/rate-limiting
  'ratelimitreached',
  // Okta: https://developer.okta.com/docs/reference/error-codes
  'e0000047',
];
const textNames = ['error', 'error_code', 'errorCode', 'code', '__type', 'name', 'status', 'title'];
const sentenceNames = ['error_description', 'errorSummary', 'message'];

/**
 * Returns whether an error response says that there were too many requests: by a known code, or in
 * these words, as Zoho (https://www.zoho.com/accounts/protocol/oauth/token-limits.html) and Fiat
 * Republic (https://docs.fiatrepublic.com/docs/rate-limiting) do beside a code that does not tell.
 */
export function isThrottling(body: string): boolean {
  const response = parseObject(body);
  return [response, ownProperty(response, 'error')].some((part) => {
    const texts = [...textNames, ...sentenceNames].map((name) => ownProperty(part, name));
    return texts.some((text) => typeof text === 'string' && saysTooMany(text));
  });
}

function saysTooMany(text: string): boolean {
  // AWS may put a name space before the code
  // (https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html).
  const code = text.slice(text.lastIndexOf('#') + 1).replace(/exception$/i, '');
  return throttlingCodes.includes(code.replace(/[^a-z\d]/gi, '').toLowerCase()) || /\btoo many requests\b/i.test(text);
}
