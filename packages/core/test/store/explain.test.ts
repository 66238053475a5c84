import { expect, test } from 'vitest';
import { explain, type Reason } from '../../src/store/index.ts';

const password = 'canary-password';

function thrown(error: unknown, ...rest: [AbortSignal?, (readonly Reason[])?, unknown?]): unknown {
  try {
    return explain(error, rest[0], ...(rest.slice(1) as []));
  } catch (given) {
    return given;
  }
}

test.each([
  ['42P01', 'MissingTable', 'createTable()'],
  ['3D000', 'MissingDatabase', 'database'],
  ['42501', 'MissingRights', 'select, insert and update'],
  ['28P01', 'WrongPassword', 'password'],
  ['25006', 'ReadOnlyServer', 'connect to the primary server'],
  ['53300', 'TooManyConnections', 'pooler'],
  ['57014', 'SlowAnswer', 'time-out'],
  ['55P03', 'LockedTable', 'pg_locks'],
  ['25P02', 'OpenTransaction', 'transaction'],
  ['53100', 'FullDisk', 'disk'],
  ['57P03', 'StartingServer', 'starting'],
  ['ECONNRESET', 'LostConnection', 'connection broke'],
  ['ENOTFOUND', 'Unreachable', 'address'],
])('the code %s is %s, and its advice has no word of the message', (code, name, advice) => {
  const error = thrown(Object.assign(new Error(`${password} of user`), { code }));
  expect(error).toMatchObject({ name, code, advice: expect.stringContaining(advice) });
  expect(`${error} ${JSON.stringify(error)}`).not.toContain(password);
});

test.each([
  ['Query read timeout', 'SlowAnswer'],
  ['Command timed out', 'SlowAnswer'],
  ['Socket timeout timeout. Expecting data', 'SlowAnswer'],
  ['timeout exceeded when trying to connect', 'ExhaustedPool'],
  ['Connection terminated due to connection timeout', 'ExhaustedPool'],
  ['Connection terminated unexpectedly', 'LostConnection'],
  ['Cannot use a pool after calling end on the pool', 'ClosedClient'],
  ['Connection is closed.', 'ClosedClient'],
  ["Stream isn't writeable and enableOfflineQueue options is false", 'NotConnected'],
  ["Cluster isn't ready and enableOfflineQueue options is false", 'NotConnected'],
  ['The client is offline', 'NotConnected'],
  ['ERR max number of clients reached', 'TooManyConnections'],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'WrongPassword'],
  ['Connection timeout', 'Unreachable'],
])('the message "%s" of a driver without a code is %s', (message, name) => {
  expect(thrown(new Error(message))).toMatchObject({ name, code: undefined, advice: expect.any(String) });
});

test('the number of MySQL, the name of an error and the code of a cause are codes, too', () => {
  expect(thrown({ errno: 1290, code: 'ER_OPTION_PREVENTS_STATEMENT' })).toMatchObject({
    name: 'ReadOnlyServer',
    code: 'ER_OPTION_PREVENTS_STATEMENT',
  });
  expect(thrown({ name: 'MaxRetriesPerRequestError' })).toMatchObject({ name: 'Unreachable' });
  const cause = Object.assign(new Error(password), { code: 'ECONNREFUSED' });
  expect(thrown(new TypeError('fetch failed', { cause }))).toMatchObject({ name: 'Unreachable', code: 'ECONNREFUSED' });
});

test('what only one store says comes first, and a code says more than a message', () => {
  const own: Reason[] = [
    ['Own', 'the advice of the store.', '42501 OWN', /permission/],
    ['ByMessage', 'another advice.', '', /permission/],
  ];
  expect(thrown({ code: '42501' }, undefined, own)).toMatchObject({ name: 'Own', advice: 'the advice of the store.' });
  expect(thrown({ message: 'no permission' }, undefined, own)).toMatchObject({ name: 'Own' });
  expect(thrown({ code: '25006', message: 'no permission' }, undefined, own)).toMatchObject({ name: 'ReadOnlyServer' });
  expect(thrown({ code: '25006' }, undefined, own, 'OWN')).toMatchObject({ name: 'Own', code: 'OWN' });
});

test.each([undefined, null, 'a text', new Error('something else'), { code: '4250' }, { code: '' }, { code: 1 }])(
  '%j is in no table, so it stays as it is',
  (error) => {
    expect(thrown(error)).toBe(error);
  },
);

test('the reason of a signal stays as it is, whatever it looks like', () => {
  const reason = Object.assign(new Error('Query read timeout'), { code: '42501' });
  expect(thrown(reason, AbortSignal.abort(reason))).toBe(reason);
  expect(thrown(reason, new AbortController().signal)).toMatchObject({ name: 'MissingRights' });
});
