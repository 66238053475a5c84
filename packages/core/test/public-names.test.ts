import { expect, test } from 'vitest';
import * as http from '../src/http/index.ts';
import * as core from '../src/index.ts';
import * as oauth2 from '../src/oauth2/index.ts';
import * as record from '../src/record/stored-record.ts';
import * as sql from '../src/sql/index.ts';
import * as store from '../src/store/index.ts';

test('the package exports these names, and no others', () => {
  expect(Object.keys(core).sort()).toEqual([
    'ServiceAuthError',
    'createServiceAuth',
    'createServiceAuthFromEnv',
    'createUsageReader',
    'eventLevel',
    'fetchTransport',
    'isServiceAuthError',
    'memoryStore',
    'optionsFromEnv',
  ]);
});

test('the entry for HTTP adapters exports these names, and no others', () => {
  expect(Object.keys(http).sort()).toEqual([
    'abortable',
    'acceptsToken',
    'checkIsRejected',
    'checkTokenSource',
    'discardBody',
    'environmentProxy',
    'hasAuthorization',
    'hideAgentRequests',
    'isLoopback',
    'isRedirect',
    'isReplayable',
    'isTokenPending',
    'listenToErrors',
    'ownProperties',
    'redirectTo',
    'rejectsToken',
    'replaceRejected',
    'sendWithToken',
    'serviceUnavailable',
    'settledToken',
    'tokenBypassed',
    'tokenNotSent',
    'tokenProvider',
    'tokenRejected',
  ]);
});

test('the entry for other authorization servers exports these names, and no others', () => {
  expect(Object.keys(oauth2).sort()).toEqual([
    'authenticationOf',
    'clientAssertion',
    'clientSecretBasic',
    'clientSecretPost',
    'discoverTokenEndpoint',
    'privateKeyJwt',
    'tlsClientAuth',
  ]);
});

test('the entry for stores exports these names, and no others', () => {
  expect(Object.keys(store).sort()).toEqual(['abortable', 'explain', 'onePerConnection', 'storeError', 'timeOfDate']);
});

test('the entry for SQL stores exports these names, and no others', () => {
  expect(Object.keys(sql).sort()).toEqual(['createStatements', 'quotedName']);
});

test('the entry for tools that keep records exports these names, and no others', () => {
  expect(Object.keys(record).sort()).toEqual([
    'authenticationVariables',
    'countsForMs',
    'emptyRecord',
    'failuresInRow',
    'incompleteRecord',
    'isEmptyRecord',
    'problemOfRecord',
    'recordKey',
    'recordWithSpent',
    'secretInRecord',
    'secretVariables',
    'serveVariables',
    'shownNameOf',
    'temporaryCauseOf',
    'unreadVariables',
    'variables',
  ]);
});
