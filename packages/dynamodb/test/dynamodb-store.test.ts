import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { CreateTableCommand, DynamoDB, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createServiceAuth } from '@service-auth/core';
import { expectAborts, expectDeadline } from '@service-auth/test-support/silent-store';
import { expectMissingTable, expectOneToken } from '@service-auth/test-support/store-checks';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import { createTestClock, startTestService } from '@service-auth/testing';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTable, dynamodbStore } from '../src/index.ts';
import { type Answer, refusal, startFront } from './support/front.ts';

const server = await startDynalite();
afterAll(() => server.stop());

function connect(url = server.url, settings: DynamoDBClientConfig = {}): DynamoDBClient {
  const client = new DynamoDBClient({ ...dynaliteClientSettings(url), ...settings });
  onTestFinished(() => client.destroy());
  return client;
}

/** A table of its own. */
async function freshTable(): Promise<{ table: string }> {
  const options = { table: randomUUID() };
  await createTable(connect(), options);
  return options;
}

const change = (version: string, expected?: string) => ({ expected, version, record: `record of ${version}` });

test.each([[undefined], ['http://127.0.0.1:8000'], [{}], [DynamoDBClient]])(
  '%o is refused as a client at once',
  (client) => {
    expect(() => dynamodbStore(client as never)).toThrow(
      new TypeError('[service-auth/dynamodb] dynamodbStore(client) takes a DynamoDBClient of the AWS SDK 3.'),
    );
  },
);

describe('the table', () => {
  test('has a name in messages', () => {
    const client = connect();
    expect(dynamodbStore(client).name).toBe('the DynamoDB table service-auth');
    expect(dynamodbStore(client, { table: 'app.tokens' }).name).toBe('the DynamoDB table app.tokens');
  });

  test('has a name that is a name, or the ARN of a table', async () => {
    const client = connect();
    for (const table of ['', 'ab', 'a b', 'a/b', 'a'.repeat(256), 'äbc', 'arn:aws:s3:::bucket']) {
      expect(() => dynamodbStore(client, { table }), table).toThrow(TypeError);
      await expect(createTable(client, { table }), table).rejects.toThrow(TypeError);
    }
    dynamodbStore(client, { table: 'arn:aws:dynamodb:eu-central-1:123456789012:table/tokens' });
  });

  test('is created once, by several processes at once', async () => {
    const options = { table: randomUUID() };
    await Promise.all(Array.from({ length: 8 }, () => createTable(connect(), options)));
    await createTable(connect(), options);
    expect(await dynamodbStore(connect(), options).swap('key', change('1'))).toMatchObject({ swapped: true });
  });

  const key = {
    AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
  };
  const described = (TableStatus: string): Answer => ({ status: 200, body: { Table: { TableStatus, ...key } } });

  test('is waited for while DynamoDB does not find it yet or creates it, and may be used while it is updated', async () => {
    const answers = [refusal('ResourceNotFoundException'), described('CREATING'), described('UPDATING')];
    const front = await startFront(server.url);
    front.answer = (action) => (action === 'DescribeTable' ? answers.shift() : undefined);
    await createTable(connect(front.url), { table: randomUUID() });
    expect(front.actions).toEqual(['CreateTable', 'DescribeTable', 'DescribeTable', 'DescribeTable']);
  });

  test('that is being deleted is not waited for', async () => {
    const front = await startFront(server.url);
    front.answer = (action) => (action === 'DescribeTable' ? described('DELETING') : refusal('ResourceInUseException'));
    await expect(createTable(connect(front.url))).rejects.toThrow(
      /^\[service-auth\/dynamodb\] The table service-auth cannot be used: its status is DELETING/,
    );
    expect(front.actions).toEqual(['CreateTable', 'DescribeTable']);
  });

  test('that is not created within two minutes ends in an error', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const client = { send: async () => ({ Table: { TableStatus: 'CREATING' } }) };
    const creating = createTable(client).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(119_000);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(await creating).toMatchObject({ message: expect.stringContaining('its status is CREATING') });
  });

  test('that is missing is reported as that, and core says what to do', async () => {
    const store = dynamodbStore(connect());
    const missing = {
      name: 'MissingTable',
      code: 'ResourceNotFoundException',
      advice: expect.stringContaining('createTable(client)'),
    };
    const told = /\(MissingTable ResourceNotFoundException\).* Check the store and try again: the table is missing/;
    await expectMissingTable(store, missing, told);
  });

  const hash = { AttributeName: 'key', KeyType: 'HASH' } as const;
  test.each([
    ['of another name', 'S', [{ ...hash, AttributeName: 'id' }]],
    ['of another type', 'N', [hash]],
    ['with a sort key', 'S', [hash, { AttributeName: 'id', KeyType: 'RANGE' }]],
  ] as const)(
    'that has a key %s is reported as that, also when it is to be created',
    async (_, AttributeType, schema) => {
      const client = connect();
      const TableName = randomUUID();
      await client.send(
        new CreateTableCommand({
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: schema.map(({ AttributeName }) => ({ AttributeName, AttributeType })),
          KeySchema: [...schema],
        }),
      );
      await expect(createTable(client, { table: TableName })).rejects.toThrow(
        `[service-auth/dynamodb] The table ${TableName} exists with another key. It must have the partition key 'key', a string`,
      );
      const store = dynamodbStore(client, { table: TableName });
      const wrong = {
        name: 'OtherTable',
        code: 'ValidationException',
        advice: expect.stringContaining("partition key 'key'"),
      };
      await expect(store.load('key')).rejects.toMatchObject(wrong);
      await expect(store.swap('key', change('1'))).rejects.toMatchObject(wrong);
    },
  );
});

describe('a client that does not reach DynamoDB', () => {
  /** The message of core, which callers see. */
  async function messageWith(client: DynamoDBClient): Promise<string> {
    await using service = await startTestService();
    await using auth = createServiceAuth({ ...service.options, timeoutMs: 20_000, store: dynamodbStore(client) });
    const error: unknown = await auth.getToken().catch((error: unknown) => error);
    expect(service.counts.tokenRequests).toBe(0);
    return `${error}`;
  }

  test('because it has no region is told to set one', async () => {
    for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { region, ...settings } = dynaliteClientSettings(server.url);
    const client = new DynamoDBClient(settings);
    onTestFinished(() => client.destroy());
    expect(await messageWith(client)).toMatch(/\(MissingRegion\).*: the client has no region; set AWS_REGION/);
  });

  test('because nothing listens there is told which variables have its address', async () => {
    await using gone = await startDynalite();
    await gone.kill();
    expect(await messageWith(connect(gone.url))).toMatch(/ECONNREFUSED\).*: nothing answers at .* AWS_REGION/);
  });

  test('because the connection is reset is not told of the gateway endpoint', async () => {
    const server = createServer((socket) => void socket.once('data', () => socket.resetAndDestroy()));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await messageWith(connect(`http://127.0.0.1:${port}`))).toMatch(
      /\(LostConnection ECONNRESET\).*: the connection was reset\. .* needs https/,
    );
  });

  test.each(['CredentialsProviderError', 'ExpiredTokenException', 'UnrecognizedClientException'])(
    'because of %s is told what to do in a function and elsewhere',
    async (name) => {
      const credentials = () => Promise.reject(Object.assign(new Error('a secret'), { name }));
      const message = await messageWith(connect(server.url, { credentials }));
      expect(message).toMatch(
        /no valid credentials\. Give the function a role; elsewhere set AWS_PROFILE or run aws sso login/,
      );
      expect(message).not.toContain('a secret');
    },
  );

  test('whose own deadline ends the wait is told of the gateway endpoint', async () => {
    const silent = { send: () => Promise.reject(Object.assign(new Error('a secret'), { name: 'TimeoutError' })) };
    const error = await dynamodbStore(silent)
      .load('key')
      .catch((error: Error) => error);
    expect(error).toMatchObject({
      name: 'SlowAnswer',
      code: 'TimeoutError',
      advice: expect.stringContaining('gateway endpoint'),
    });
    expect(String(error)).not.toContain('a secret');
  });
});

test.each([
  ['DynamoDB', () => new DynamoDB(dynaliteClientSettings(server.url))],
  ['DynamoDBDocumentClient', () => DynamoDBDocumentClient.from(connect())],
] as const)('a %s keeps records as a DynamoDBClient does', async (_, create) => {
  const options = await freshTable();
  const client = create();
  onTestFinished(() => client.destroy());
  const store = dynamodbStore(client, options);
  expect(await store.load('key')).toEqual({ now: expect.any(Number), warnings: undefined });
  expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
  expect(await store.swap('key', change('2'))).toMatchObject({ swapped: false });
  expect(await dynamodbStore(connect(), options).load('key')).toMatchObject({ version: '1', record: 'record of 1' });
});

test('an acknowledged swap survives that the server is killed', async () => {
  await using killed = await startDynalite();
  const client = connect(killed.url);
  await createTable(client);
  const store = dynamodbStore(client);
  await store.swap('key', change('1'));
  await store.swap('key', change('2', '1'));
  await killed.kill();
  await expect(store.load('key')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await killed.restart();
  expect(await store.load('key')).toMatchObject({ version: '2', record: 'record of 2' });
});

describe('a table that is throttled', () => {
  const busy = [
    'ProvisionedThroughputExceededException',
    'ThrottlingException',
    'RequestLimitExceeded',
    'ReplicatedWriteConflictException',
    'InternalServerError',
  ];
  test.each(busy)('is asked again after %s', async (name) => {
    const options = await freshTable();
    const front = await startFront(server.url);
    const store = dynamodbStore(connect(front.url, { maxAttempts: 1 }), options);
    let refused = 0;
    front.answer = (action) => {
      if (action === 'DescribeTable' || refused === 2) return undefined;
      refused += 1;
      return refusal(name);
    };
    expect(await store.swap('key', change('1'))).toMatchObject({ swapped: true });
    refused = 0;
    expect(await store.load('key')).toMatchObject({ version: '1' });
    expect(refused).toBe(2);
  });

  test('is asked until the signal aborts, and the pause between two attempts ends with it', async () => {
    const front = await startFront(server.url);
    front.answer = () => refusal('ThrottlingException');
    const store = dynamodbStore(connect(front.url, { maxAttempts: 1 }));
    const controller = new AbortController();
    const loading = store.load('key', controller);
    const reason = new Error('enough');
    void expect
      .poll(() => front.actions.length)
      .toBeGreaterThan(2)
      .then(() => controller.abort(reason));
    await expect(loading).rejects.toBe(reason);
  });

  test('is not asked again after an error that stays', async () => {
    const front = await startFront(server.url);
    front.answer = () => refusal('AccessDeniedException');
    const store = dynamodbStore(connect(front.url));
    await expect(store.load('key')).rejects.toMatchObject({
      name: 'MissingRights',
      code: 'AccessDeniedException',
      advice: 'the role needs dynamodb:GetItem and dynamodb:PutItem on the table.',
    });
    expect(front.actions).toEqual(['GetItem']);
  });
});

describe('the clock', () => {
  test('is the Date of the answer, also if the swap was refused', async () => {
    const options = await freshTable();
    const store = dynamodbStore(connect(), options);
    await store.swap('key', change('1'));
    const times = [
      await store.load('key'),
      await store.swap('key', change('2', '1')),
      await store.swap('key', change('3')),
    ];
    for (const { now } of times) {
      expect(now % 1_000).toBe(0);
      expect(Math.abs(Date.now() - now)).toBeLessThan(60_000);
    }
  });

  test('is missing behind a proxy that removes the Date, and core says so', async () => {
    const front = await startFront(server.url);
    front.removesDate = true;
    const store = dynamodbStore(connect(front.url), await freshTable());
    const unknown = { name: 'TypeError', advice: expect.stringContaining('Date header') };
    await expect(store.load('key')).rejects.toMatchObject(unknown);
    await expect(store.swap('key', change('1'))).rejects.toMatchObject(unknown);
  });
});

describe('a global table', () => {
  const described = (Table: object) => ({ status: 200, body: { Table } });
  const replicas = { Replicas: [{ RegionName: 'eu-west-1' }] };

  async function storeWith(answer: Answer | undefined) {
    const front = await startFront(server.url);
    front.answer = (action) => (action === 'DescribeTable' ? answer : undefined);
    const store = dynamodbStore(connect(front.url), await freshTable());
    return { warnings: async () => (await store.load('key')).warnings, front };
  }

  test('that is eventually consistent is warned of, and described once', async () => {
    const { warnings, front } = await storeWith(described(replicas));
    await expect.poll(warnings).toEqual([expect.stringMatching(/^The table is a global table with eventual/)]);
    await warnings();
    expect(front.actions.filter((action) => action === 'DescribeTable')).toHaveLength(1);
  });

  test.each([
    ['is strongly consistent', described({ ...replicas, MultiRegionConsistency: 'STRONG' })],
    ['is none', undefined],
    ['may not be described', refusal('AccessDeniedException')],
  ])('that %s is not warned of', async (_, answer) => {
    const { warnings } = await storeWith(answer);
    // Undefined until the table was described.
    await expect.poll(warnings).toEqual([]);
  });
});

describe('a server that went silent', () => {
  test('the deadline of core ends every wait of the SDK', async () => {
    await using relay = await startRelay(server.port);
    const store = dynamodbStore(connect(`http://127.0.0.1:${relay.port}`), await freshTable());
    const clock = createTestClock();
    await using service = await startTestService({ clock });
    await using auth = createServiceAuth({ ...service.options, store });
    await auth.getUsage();
    // From then on no other request is under way.
    await expect.poll(async () => (await store.load('key')).warnings).toEqual([]);
    expect(await expectDeadline(auth, relay, clock)).toMatch(/: DynamoDB does not answer\. .* gateway endpoint/);
    relay.set('pass');
  });

  test('a caller whose signal aborts does not wait', async () => {
    await using relay = await startRelay(server.port);
    const store = dynamodbStore(connect(`http://127.0.0.1:${relay.port}`), await freshTable());
    await expectAborts(store, relay);
    relay.set('pass');
  });

  test('a caller whose signal aborts does not wait for credentials either', async () => {
    const credentials = () => new Promise<never>(() => {});
    const store = dynamodbStore(connect(server.url, { credentials }));
    const controller = new AbortController();
    const loading = store.load('key', controller);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(loading).rejects.toBe(reason);
  });
});

describe('clients over one table', () => {
  test('share one token and one count', async () => {
    const options = await freshTable();
    await expectOneToken(() => dynamodbStore(connect(), options));
  });

  test('cost: who issues, one read and two writes; who adopts, one read; and the table is described once', async () => {
    await using service = await startTestService();
    const front = await startFront(server.url);
    const store = dynamodbStore(connect(front.url), await freshTable());
    await using issuing = createServiceAuth({ ...service.options, store });
    await issuing.getToken();
    await using adopting = createServiceAuth({ ...service.options, store });
    await adopting.getToken();
    await expect.poll(() => front.actions.length).toBe(5);
    expect(front.actions.filter((action) => action !== 'DescribeTable')).toEqual([
      'GetItem',
      'PutItem',
      'PutItem',
      'GetItem',
    ]);
    expect(service.counts.tokenRequests).toBe(1);
  });
});
