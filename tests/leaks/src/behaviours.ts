import type { ServerResponse } from 'node:http';
import type { ServiceAuthOptions } from '@service-auth/core';

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
