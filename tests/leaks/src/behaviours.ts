import type { ServerResponse } from 'node:http';
import type { ClientAuthentication, ServiceAuthOptions } from '@service-auth/core';
import { clientAssertion, clientSecretBasic, clientSecretPost, privateKeyJwt } from '@service-auth/core/oauth2';

/** The parts of an answer. The watched program knows the secret from its environment, because sources are printed. */
interface Question {
  readonly body: string;
  readonly secret: string;
  /** A good answer of the token endpoint. */
  readonly issued: string;
}

/** Undefined: no answer, ever. */
type Answer = ((response: ServerResponse, question: Question) => void) | undefined;

/** Something that happens to a client, and what comes of its request. */
export interface Behaviour {
  readonly token: Answer;
  readonly api: Answer;
  readonly options?: (secret: string) => Partial<ServiceAuthOptions>;
  /** In place of a good one. */
  readonly store?: 'down' | 'damaged';
  /** True if a token was issued before and was lost. */
  readonly spent?: true;
  /** The caller's wait for the silent server: until its request arrived there, or for a moment. */
  readonly deadline?: 'aborts' | 'times out';
  /** A status of the API, the code of our error, or `fails`: an error of the client. */
  readonly outcome: number | string;
}

const json = { 'content-type': 'application/json' };
const nowhere = 'http://127.0.0.1:1';

/** The options of a client that authenticates in another way. */
function withoutSecret(secret: string, clientAuthentication: ClientAuthentication): Partial<ServiceAuthOptions> {
  const storeKey = `${secret}, a key for the tokens in the store`;
  return { clientAuthentication, clientSecret: undefined, storeKey, issuer: 'https://issuer.example' };
}

const good = {
  token: (response, { issued }) => response.writeHead(200, json).end(issued),
  api: (response) => response.writeHead(200, json).end('{"orders":[]}'),
} satisfies Partial<Behaviour>;

const rejecting: Answer = (response) => response.writeHead(401, json).end('{"error":"invalid_token"}');
const breaking: Answer = (response, { issued }) =>
  response.writeHead(200, { ...json, 'content-length': '999' }).write(issued.slice(0, 1), () => response.destroy());

/** The keys are the first part of the path of a request. */
export const behaviours: Readonly<Record<string, Behaviour>> = {
  works: { ...good, outcome: 200 },
  'echoes-500': {
    ...good,
    token: (response, { body, issued }) => response.writeHead(500, json).end(body + issued),
    outcome: 'ERR_TOKEN_ENDPOINT',
  },
  'echoes-400': {
    ...good,
    token: (response, { body, secret }) =>
      response.writeHead(400, json).end(body.replace('{', `{"error":"${secret}","error_description":"${secret}",`)),
    outcome: 'ERR_CREDENTIALS_REJECTED',
  },
  'echoes-200': {
    ...good,
    token: (response, { body, secret }) => response.writeHead(200, { ...json, 'x-echo': secret }).end(body),
    outcome: 'ERR_TOKEN_RESPONSE',
  },
  'strange-token': {
    ...good,
    token: (response, { issued }) => response.writeHead(200, json).end(issued.replace('Bearer', 'mac')),
    outcome: 'ERR_TOKEN_RESPONSE',
  },
  redirects: {
    ...good,
    token: (response, { secret }) => response.writeHead(307, { location: `/elsewhere?${secret}` }).end(),
    outcome: 'ERR_TOKEN_ENDPOINT',
  },
  'answers-429': {
    ...good,
    token: (response, { secret }) => response.writeHead(429, { 'retry-after': secret }).end(secret),
    outcome: 'ERR_RATE_LIMITED',
  },
  breaks: {
    ...good,
    token: (response, { issued }) =>
      response.writeHead(200, { ...json, 'content-length': '999' }).write(issued, () => response.destroy()),
    outcome: 'ERR_TOKEN_ENDPOINT',
  },
  unreachable: { ...good, options: () => ({ authUrl: nowhere }), outcome: 'ERR_TOKEN_ENDPOINT' },
  'times-out': { ...good, token: undefined, options: () => ({ timeoutMs: 100 }), outcome: 'ERR_TOKEN_ENDPOINT' },
  'wait-aborts': { ...good, token: undefined, deadline: 'aborts', outcome: 'fails' },
  'secret-fails': {
    ...good,
    options: (secret) => ({ clientSecret: () => Promise.reject(new Error(`no ${secret}`, { cause: { secret } })) }),
    outcome: 'ERR_CLIENT_SECRET',
  },
  'form-and-more-tokens': {
    ...good,
    token: (response, { issued }) => {
      const { access_token: token, ...rest } = JSON.parse(issued);
      const more = { refresh_token: `${token}.refresh`, id_token: `${token}.id`, scope: token };
      response.writeHead(200, json).end(JSON.stringify({ access_token: token, ...rest, ...more }));
    },
    options: () => ({ clientAuthentication: clientSecretPost(), scope: 'read' }),
    outcome: 200,
  },
  'form-echoes-500': {
    ...good,
    token: (response, { body }) => response.writeHead(500, json).end(body),
    options: () => ({ clientAuthentication: clientSecretPost() }),
    outcome: 'ERR_TOKEN_ENDPOINT',
  },
  'basic-echoes-400': {
    ...good,
    token: (response, { secret }) => response.writeHead(400, json).end(`{"error":"${secret}","error_uri":"${secret}"}`),
    options: () => ({ clientAuthentication: clientSecretBasic() }),
    outcome: 'ERR_CREDENTIALS_REJECTED',
  },
  'assertion-echoes-401': {
    ...good,
    token: (response, { body }) => response.writeHead(401, json).end(JSON.stringify({ error: body })),
    options: (secret) =>
      withoutSecret(
        secret,
        clientAssertion(async () => `${secret}.assertion`),
      ),
    outcome: 'ERR_CREDENTIALS_REJECTED',
  },
  'assertion-fails': {
    ...good,
    options: (secret) =>
      withoutSecret(
        secret,
        clientAssertion(() => Promise.reject(new Error(`no ${secret}`, { cause: { secret } }))),
      ),
    outcome: 'ERR_CLIENT_SECRET',
  },
  'key-is-none': {
    ...good,
    options: (secret) => withoutSecret(secret, privateKeyJwt({ key: () => `-----BEGIN PRIVATE KEY-----\n${secret}` })),
    outcome: 'ERR_CLIENT_SECRET',
  },
  'key-is-damaged': {
    ...good,
    options: (secret) => withoutSecret(secret, privateKeyJwt({ key: () => ({ kty: 'EC', crv: 'P-256', d: secret }) })),
    outcome: 'ERR_CLIENT_SECRET',
  },
  'assertion-expired': {
    ...good,
    options: (secret) =>
      withoutSecret(
        secret,
        clientAssertion(() => `${secret}.${btoa(JSON.stringify({ exp: 1, sub: secret }))}.${secret}`),
      ),
    outcome: 'ERR_CLIENT_SECRET',
  },
  'assertion-is-refused': {
    ...good,
    token: (response, { body }) => response.writeHead(400, json).end(JSON.stringify({ error: 'invalid_client', body })),
    options: (secret) =>
      withoutSecret(
        secret,
        clientAssertion(() => `${btoa('{}')}.${btoa(JSON.stringify({ iss: secret, sub: secret }))}.${secret}`),
      ),
    outcome: 'ERR_CREDENTIALS_REJECTED',
  },
  'store-down': { ...good, store: 'down', outcome: 'ERR_STORE' },
  'store-damaged': { ...good, store: 'damaged', outcome: 'ERR_STORE_INTEGRITY' },
  limit: {
    ...good,
    options: () => ({ issuanceLimit: { tokens: 1, reserve: 0 } }),
    spent: true,
    outcome: 'ERR_ISSUANCE_LIMIT',
  },
  'api-401': { ...good, api: rejecting, outcome: 401 },
  'api-500': { ...good, api: (response) => response.writeHead(500, json).end('{"error":"oops"}'), outcome: 500 },
  'api-redirects': {
    ...good,
    api: (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    outcome: 200,
  },
  'api-breaks': { ...good, api: breaking, outcome: 'fails' },
  'api-unreachable': { ...good, options: () => ({ baseUrl: `${nowhere}/api` }), outcome: 'fails' },
  'api-times-out': { ...good, api: undefined, deadline: 'times out', outcome: 'fails' },
  'api-aborts': { ...good, api: undefined, deadline: 'aborts', outcome: 'fails' },
};
