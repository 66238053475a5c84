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

/** Null: no answer, ever. */
type Answer = ((response: ServerResponse, question: Question) => void) | null;

/** Something that happens to a client, and what comes of its request. Undefined answers are good ones. */
export interface Behaviour {
  readonly token?: Answer;
  readonly api?: Answer;
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

const answers =
  (status: number, text: (question: Question) => string, headers: Record<string, string> = json): Answer =>
  (response, question) =>
    response.writeHead(status, headers).end(text(question));

/** Breaks the connection off after a part of what it announced. */
const breaking =
  (text: (question: Question) => string): Answer =>
  (response, question) =>
    response.writeHead(200, { ...json, 'content-length': '999' }).write(text(question), () => response.destroy());

/** What a behaviour does not say. */
export const good: Readonly<Record<'token' | 'api', Answer>> = {
  token: answers(200, ({ issued }) => issued),
  api: answers(200, () => '{"orders":[]}'),
};

/** The options of a client that authenticates in another way. */
const by = (clientAuthentication: ClientAuthentication) => (): Partial<ServiceAuthOptions> => ({
  clientAuthentication,
});
const withoutSecret =
  (way: (secret: string) => ClientAuthentication) =>
  (secret: string): Partial<ServiceAuthOptions> => {
    const storeKey = `${secret}, a key for the tokens in the store`;
    return { clientAuthentication: way(secret), clientSecret: undefined, storeKey, issuer: 'https://issuer.example' };
  };
const asserting = (assertion: (secret: string) => string | Promise<string>) =>
  withoutSecret((secret) => clientAssertion(() => assertion(secret)));
const failing = (secret: string) => Promise.reject(new Error(`no ${secret}`, { cause: { secret } }));

/** The keys are the first part of the path of a request. */
export const behaviours: Readonly<Record<string, Behaviour>> = {
  works: { outcome: 200 },
  'echoes-500': { token: answers(500, ({ body, issued }) => body + issued), outcome: 'ERR_TOKEN_ENDPOINT' },
  'echoes-400': {
    token: answers(400, ({ body, secret }) =>
      body.replace('{', `{"error":"${secret}","error_description":"${secret}",`),
    ),
    outcome: 'ERR_CREDENTIALS_REJECTED',
  },
  'echoes-200': {
    token: (response, { body, secret }) => response.writeHead(200, { ...json, 'x-echo': secret }).end(body),
    outcome: 'ERR_TOKEN_RESPONSE',
  },
  'strange-token': {
    token: answers(200, ({ issued }) => issued.replace('Bearer', 'mac')),
    outcome: 'ERR_TOKEN_RESPONSE',
  },
  redirects: {
    token: (response, { secret }) => response.writeHead(307, { location: `/elsewhere?${secret}` }).end(),
    outcome: 'ERR_TOKEN_ENDPOINT',
  },
  'answers-429': {
    token: (response, { secret }) => response.writeHead(429, { 'retry-after': secret }).end(secret),
    outcome: 'ERR_RATE_LIMITED',
  },
  breaks: { token: breaking(({ issued }) => issued), outcome: 'ERR_TOKEN_ENDPOINT' },
  unreachable: { options: () => ({ authUrl: nowhere }), outcome: 'ERR_TOKEN_ENDPOINT' },
  'times-out': { token: null, options: () => ({ timeoutMs: 100 }), outcome: 'ERR_TOKEN_ENDPOINT' },
  'wait-aborts': { token: null, deadline: 'aborts', outcome: 'fails' },
  'secret-fails': { options: (secret) => ({ clientSecret: () => failing(secret) }), outcome: 'ERR_CLIENT_SECRET' },
  'form-and-more-tokens': {
    token: answers(200, ({ issued }) => {
      const { access_token: token, ...rest } = JSON.parse(issued);
      const more = { refresh_token: `${token}.refresh`, id_token: `${token}.id`, scope: token };
      return JSON.stringify({ access_token: token, ...rest, ...more });
    }),
    options: () => ({ clientAuthentication: clientSecretPost(), scope: 'read' }),
    outcome: 200,
  },
  'form-echoes-500': {
    token: answers(500, ({ body }) => body),
    options: by(clientSecretPost()),
    outcome: 'ERR_TOKEN_ENDPOINT',
  },
  'basic-echoes-400': {
    token: answers(400, ({ secret }) => `{"error":"${secret}","error_uri":"${secret}"}`),
    options: by(clientSecretBasic()),
    outcome: 'ERR_CREDENTIALS_REJECTED',
  },
  'assertion-echoes-401': {
    token: answers(401, ({ body }) => JSON.stringify({ error: body })),
    options: asserting(async (secret) => `${secret}.assertion`),
    outcome: 'ERR_CREDENTIALS_REJECTED',
  },
  'assertion-fails': { options: asserting(failing), outcome: 'ERR_CLIENT_SECRET' },
  'key-is-none': {
    options: withoutSecret((secret) => privateKeyJwt({ key: () => `-----BEGIN PRIVATE KEY-----\n${secret}` })),
    outcome: 'ERR_CLIENT_SECRET',
  },
  'key-is-damaged': {
    options: withoutSecret((secret) => privateKeyJwt({ key: () => ({ kty: 'EC', crv: 'P-256', d: secret }) })),
    outcome: 'ERR_CLIENT_SECRET',
  },
  'assertion-expired': {
    options: asserting((secret) => `${secret}.${btoa(JSON.stringify({ exp: 1, sub: secret }))}.${secret}`),
    outcome: 'ERR_CLIENT_SECRET',
  },
  'assertion-is-refused': {
    token: answers(400, ({ body }) => JSON.stringify({ error: 'invalid_client', body })),
    options: asserting((secret) => `${btoa('{}')}.${btoa(JSON.stringify({ iss: secret, sub: secret }))}.${secret}`),
    outcome: 'ERR_CREDENTIALS_REJECTED',
  },
  'store-down': { store: 'down', outcome: 'ERR_STORE' },
  'store-damaged': { store: 'damaged', outcome: 'ERR_STORE_INTEGRITY' },
  limit: {
    options: () => ({ issuanceLimit: { tokens: 1, reserve: 0 } }),
    spent: true,
    outcome: 'ERR_ISSUANCE_LIMIT',
  },
  'api-401': { api: answers(401, () => '{"error":"invalid_token"}'), outcome: 401 },
  'api-500': { api: answers(500, () => '{"error":"oops"}'), outcome: 500 },
  'api-redirects': { api: answers(302, () => '', { location: '/elsewhere' }), outcome: 200 },
  'api-breaks': { api: breaking(({ issued }) => issued.slice(0, 1)), outcome: 'fails' },
  'api-unreachable': { options: () => ({ baseUrl: `${nowhere}/api` }), outcome: 'fails' },
  'api-times-out': { api: null, deadline: 'times out', outcome: 'fails' },
  'api-aborts': { api: null, deadline: 'aborts', outcome: 'fails' },
};
