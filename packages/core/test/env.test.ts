import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  createServiceAuth,
  createServiceAuthFromEnv,
  memoryStore,
  optionsFromEnv,
  ServiceAuthError,
  type ServiceAuthOptions,
} from '../src/index.ts';
import { createBed, failure } from './support/bed.ts';
import { secretCanary } from './support/canaries.ts';

const env = {
  SERVICE_AUTH_URL: 'https://auth.example.com',
  SERVICE_BASE_URL: 'https://api.example.com/v1',
  SERVICE_AUTH_AUDIENCE: 'orders',
  SERVICE_AUTH_CLIENT_ID: 'client-1',
  SERVICE_AUTH_CLIENT_SECRET: secretCanary,
  SERVICE_AUTH_TOKEN_LIMIT: '60',
  PATH: '/bin',
};

const problemsOf = async (
  variables: Record<string, string | undefined>,
  overrides: Partial<ServiceAuthOptions> = {},
) => {
  const { problems } = await failure('ERR_CONFIG', () => createServiceAuthFromEnv(variables, overrides));
  return Object.fromEntries(problems.map(({ option, message }) => [option, message]));
};

describe('createServiceAuthFromEnv', () => {
  test('takes everything from the variables that it is given', async () => {
    const { clock, store, endpoint, token } = createBed('process');
    const auth = createServiceAuthFromEnv(env, { clock, store, transport: endpoint.transport });
    await token(auth);
    expect(endpoint.requests).toMatchObject([{ url: 'https://auth.example.com/oauth/token' }]);
    expect(JSON.parse(endpoint.requests[0]?.body ?? '')).toEqual({
      audience: 'orders',
      grant_type: 'client_credentials',
      client_id: 'client-1',
      client_secret: secretCanary,
    });
    expect([auth.covers('https://api.example.com/v1/x'), auth.covers('https://api.example.com/')]).toEqual([
      true,
      false,
    ]);
    expect(await auth.getUsage()).toMatchObject({ limit: 60, usable: 48 });
  });

  test('needs neither a base URL nor a limit', async () => {
    const { SERVICE_BASE_URL, SERVICE_AUTH_TOKEN_LIMIT, ...rest } = env;
    expect([SERVICE_BASE_URL, SERVICE_AUTH_TOKEN_LIMIT]).toEqual(['https://api.example.com/v1', '60']);
    const auth = createServiceAuthFromEnv({ ...rest, SERVICE_BASE_URL: '' });
    expect(auth.covers('https://api.example.com/')).toBe(false);
    expect(await auth.getUsage()).toMatchObject({ limit: 150 });
  });

  test('names the variables that are missing or empty, all at once', async () => {
    expect(await problemsOf({ SERVICE_AUTH_AUDIENCE: '' })).toEqual({
      SERVICE_AUTH_URL: 'is not set, nor SERVICE_AUTH_TOKEN_ENDPOINT',
      SERVICE_AUTH_AUDIENCE: 'is empty',
      SERVICE_AUTH_CLIENT_ID: 'is not set',
      SERVICE_AUTH_CLIENT_SECRET: 'is not set',
    });
  });

  test('names the variables that are wrong, and never what they contain', async () => {
    const problems = await problemsOf({
      ...env,
      SERVICE_AUTH_URL: `https://u:${secretCanary}@h`,
      SERVICE_AUTH_CLIENT_SECRET: `${secretCanary}\n`,
      SERVICE_BASE_URL: 'nonsense',
    });
    expect(Object.keys(problems).sort()).toEqual([
      'SERVICE_AUTH_CLIENT_SECRET',
      'SERVICE_AUTH_URL',
      'SERVICE_BASE_URL',
    ]);
    expect(problems['SERVICE_AUTH_CLIENT_SECRET']).toContain('line break');
  });

  test.each(['0', '-1', '1.5', '1e3', ' 5', '0x10', 'many', '1000001', '9999999999'])(
    'a limit of %j is a problem',
    async (limit) => {
      expect(await problemsOf({ ...env, SERVICE_AUTH_TOKEN_LIMIT: limit })).toEqual({
        SERVICE_AUTH_TOKEN_LIMIT:
          'must be like 300, 10/1h,50/24h or 10 requests/10m, or unlimited (must be an integer from 1 to 1000000)',
      });
    },
  );

  test('overrides win, and their problems go by the names of options', async () => {
    expect(
      createServiceAuthFromEnv({}, { authUrl: 'https://h', audience: 'a', clientId: 'c', clientSecret: 's' }),
    ).toBeTruthy();
    expect(await problemsOf(env, { audience: '', timeoutMs: 0, issuanceLimit: { tokens: 0 } })).toEqual({
      audience: expect.any(String),
      timeoutMs: expect.any(String),
      'issuanceLimit.tokens': expect.any(String),
    });
    expect(await problemsOf({ ...env, SERVICE_AUTH_AUDIENCE: '' }, { issuanceLimit: { tokens: 5 } })).toEqual({
      SERVICE_AUTH_AUDIENCE: 'is empty',
    });
    const windows = [{ tokens: 0, windowMs: 3_600_000 }];
    const { SERVICE_AUTH_TOKEN_LIMIT: _, ...others } = env;
    expect(Object.keys(await problemsOf(others, { issuanceLimit: { windows } }))).toEqual([
      'issuanceLimit.windows[0].tokens',
    ]);
    for (const issuanceLimit of [5, null, 'many'] as never[]) {
      expect(Object.keys(await problemsOf(env, { issuanceLimit }))).toEqual(['issuanceLimit']);
    }
  });

  test('a limit in the environment and a window in code are taken together', async () => {
    const auth = createServiceAuthFromEnv(env, { issuanceLimit: { windowMs: 3_600_000, reserve: 10 } });
    expect(await auth.getUsage()).toMatchObject({ limit: 60, usable: 50, windowMs: 3_600_000 });
    const other = createServiceAuthFromEnv(env, { issuanceLimit: { tokens: 5, reserve: 0 } });
    expect(await other.getUsage()).toMatchObject({ limit: 5 });
    expect(await problemsOf({ ...env, SERVICE_AUTH_TOKEN_LIMIT: '0' }, { issuanceLimit: { reserve: 0 } })).toEqual({
      SERVICE_AUTH_TOKEN_LIMIT: expect.any(String),
    });
  });

  test('windows in the environment contradict a window in code, and the message says so', async () => {
    const given = { ...env, SERVICE_AUTH_TOKEN_LIMIT: '10/1h,50/24h' };
    expect(await problemsOf(given, { issuanceLimit: { windowMs: 3_600_000 } })).toEqual({
      SERVICE_AUTH_TOKEN_LIMIT: 'has windows, so it must not be set together with the option issuanceLimit.windowMs',
    });
    const limit = { issuanceLimit: { windowMs: undefined } };
    expect(() => createServiceAuthFromEnv(given, { store: memoryStore(), ...limit })).not.toThrow();
  });

  test('takes several windows and a reserve', async () => {
    const limits = { SERVICE_AUTH_TOKEN_LIMIT: '10/1h, 50/24h,7/90s,9000/31d,5/10m', SERVICE_AUTH_RESERVE: '900' };
    // Clients without a store share one, in which the clients of other tests stated another agreement.
    const auth = createServiceAuthFromEnv({ ...env, ...limits }, { store: memoryStore() });
    const { windows } = await auth.getUsage();
    expect(windows.map(({ tokens, windowMs, usable }) => [tokens, windowMs, usable])).toEqual([
      [10, 3_600_000, 9],
      [50, 86_400_000, 45],
      [7, 90_000, 6],
      [9_000, 31 * 86_400_000, 8_100],
      [5, 600_000, 4],
    ]);
  });

  test.each([
    '10/1',
    '10/1w',
    '10/1h,',
    '10/1h;50/24h',
    '-1/1h',
    '1.5/1h',
    '10/1h,50/1h',
    '0/1h',
    '10/0h',
    '10/32d',
    '1/1s,1/2s,1/3s,1/4s,1/5s,1/6s,1/7s,1/8s,1/9s',
  ])('windows written as %j are a problem', async (limits) => {
    const problems = await problemsOf({ ...env, SERVICE_AUTH_TOKEN_LIMIT: limits });
    expect(Object.keys(problems)).toEqual(['SERVICE_AUTH_TOKEN_LIMIT']);
    expect(problems['SERVICE_AUTH_TOKEN_LIMIT']).toContain('10/1h,50/24h');
  });

  test('windows in code replace those of the environment', async () => {
    const windows = [{ tokens: 5, windowMs: 3_600_000 }];
    for (const limit of ['60', '10/1h,50/24h']) {
      const given = { ...env, SERVICE_AUTH_TOKEN_LIMIT: limit };
      const auth = createServiceAuthFromEnv(given, { store: memoryStore(), issuanceLimit: { windows } });
      expect((await auth.getUsage()).windows).toMatchObject(windows);
    }
  });

  test('a reserve that is too large is a problem', async () => {
    expect(await problemsOf({ ...env, SERVICE_AUTH_RESERVE: '60' })).toEqual({
      SERVICE_AUTH_RESERVE: 'must be an integer from 0 to 59',
    });
  });

  test('a limit is not enforced if its variable says so, and the variable takes no other word', async () => {
    const isEnforced = (value: string) => optionsFromEnv({ ...env, SERVICE_AUTH_ENFORCE_LIMIT: value }).issuanceLimit;
    expect([isEnforced('false'), isEnforced('true'), isEnforced('')]).toEqual([
      { tokens: 60, enforce: false },
      { tokens: 60, enforce: true },
      { tokens: 60 },
    ]);
    expect(await problemsOf({ ...env, SERVICE_AUTH_ENFORCE_LIMIT: 'no' })).toEqual({
      SERVICE_AUTH_ENFORCE_LIMIT: 'must be true or false',
    });
    const unlimited = { ...env, SERVICE_AUTH_TOKEN_LIMIT: 'unlimited', SERVICE_AUTH_ENFORCE_LIMIT: 'false' };
    expect(await problemsOf(unlimited)).toEqual({
      SERVICE_AUTH_ENFORCE_LIMIT: 'must not be set with SERVICE_AUTH_TOKEN_LIMIT=unlimited: there is no limit',
    });
  });

  test('optionsFromEnv honours every variable, for those who create the client themselves', async () => {
    const { clock, store, endpoint, token } = createBed('process');
    const options = optionsFromEnv(
      { ...env, SERVICE_AUTH_INSTANCE: 'pod 7', SERVICE_AUTH_RESERVE: '20', SERVICE_AUTH_STORE_KEY: 'k'.repeat(32) },
      { clock, store, transport: endpoint.transport, baseUrl: undefined },
    );
    expect(options).toMatchObject({
      authUrl: env.SERVICE_AUTH_URL,
      baseUrl: env.SERVICE_BASE_URL,
      instance: 'pod 7',
      storeKey: 'k'.repeat(32),
      issuanceLimit: { tokens: 60, reserve: 20 },
    });
    const auth = createServiceAuth(options);
    await token(auth);
    expect(await auth.getUsage()).toMatchObject({ limit: 60, usable: 40, issuances: [{ instance: 'pod 7' }] });
    expect(await problemsOf({ ...env, SERVICE_AUTH_STORE_KEY: 'short', SERVICE_AUTH_RESERVE: '60' })).toEqual({
      SERVICE_AUTH_STORE_KEY: expect.stringContaining('32'),
      SERVICE_AUTH_RESERVE: 'must be an integer from 0 to 59',
    });
  });

  test.each(["'client-1'", '"client-1"', '""'])('a value in quotes, %s, is a problem', async (quoted) => {
    expect(await problemsOf({ ...env, SERVICE_AUTH_CLIENT_ID: quoted, SERVICE_AUTH_CLIENT_SECRET: quoted })).toEqual({
      SERVICE_AUTH_CLIENT_ID: 'is wrapped in quotes: remove them where it is set',
      SERVICE_AUTH_CLIENT_SECRET: 'is wrapped in quotes: remove them where it is set',
    });
  });

  test('a reference that nothing replaced, and a URL with the path of the token endpoint, are problems', async () => {
    // The text looks like a template, because a tool did not replace it.
    const reference = `https://${'$'}{AUTH_HOST}`;
    expect(await problemsOf({ ...env, SERVICE_AUTH_URL: reference })).toEqual({
      SERVICE_AUTH_URL: 'contains a reference such as $' + '{NAME} that nothing replaced',
    });
    for (const path of ['/oauth/token', '/tenant/oauth/token/']) {
      expect(await problemsOf({ ...env, SERVICE_AUTH_URL: `https://auth.example.com${path}` })).toEqual({
        SERVICE_AUTH_URL: 'must end before /oauth/token, which is added to it',
      });
    }
  });

  test.each([undefined, null, 'process.env'])(
    'without the variables, with %j in their place, says what to give',
    async (given) => {
      const problems = { env: 'must be an object with the variables, such as process.env' };
      expect(await problemsOf(given as never)).toEqual(problems);
    },
  );

  test.each(['TOKEN_LIMIT', 'RESOURCE', 'STORE', 'PRIVATE_KEY', 'AUDIENCE', 'CLIENT_SECRET'])(
    'a SERVICE_AUTH_%s that is no text is told by its name alone',
    async (name) => {
      for (const value of [150, true, {}, ['a'], Symbol('a')])
        expect(await problemsOf({ ...env, [`SERVICE_AUTH_${name}`]: value as never })).toEqual({
          [`SERVICE_AUTH_${name}`]: 'must be a string',
        });
    },
  );

  test.each([null, 5, 'store'])('%j in place of the overrides is told', async (overrides) => {
    const problems = [{ option: 'overrides', message: 'must be an object with options' }];
    expect(() => optionsFromEnv(env, overrides as never)).toThrow(expect.objectContaining({ problems }));
  });

  test('takes nothing from a prototype', async () => {
    const inherited = Object.create(env) as Record<string, string>;
    expect(Object.keys(await problemsOf(inherited))).toHaveLength(4);
  });

  test.each([
    ['file:', "import { fileStore } from '@service-auth/file'", 'fileStore()'],
    ['file:/var/lib/orders', "import { fileStore } from '@service-auth/file'", 'fileStore(directory)'],
    ['redis://u:PASSWORD@cache', "import { redisStore } from '@service-auth/redis'", 'redisStore(client)'],
    ['rediss://cache?prefix=a:', "import { redisStore } from '@service-auth/redis'", 'redisStore(client, { prefix })'],
    ['postgresql://db/app', "import { postgresStore } from '@service-auth/postgres'", 'postgresStore(pool)'],
    ['mariadb://db/a?table=t', "import { mysqlStore } from '@service-auth/mysql'", 'mysqlStore(pool, { table })'],
    ['sqlite:record.db', "import { sqliteStore } from '@service-auth/sqlite'", 'sqliteStore(database)'],
    ['dynamodb:tokens', "import { dynamodbStore } from '@service-auth/dynamodb'", 'dynamodbStore(client, { table })'],
    ['@example/store', 'createServiceAuthFromEnv', 'store'],
  ])('the store %s without the override is a problem that has the line to write', async (address, ...parts) => {
    const { SERVICE_AUTH_STORE: message = '', ...others } = await problemsOf({ ...env, SERVICE_AUTH_STORE: address });
    expect(others).toEqual({});
    expect(message).toContain(`createServiceAuthFromEnv(process.env, { store${parts[1] === 'store' ? '' : ': '}`);
    for (const part of parts) expect(message).toContain(part);
    expect(message).not.toContain('PASSWORD');
    expect(optionsFromEnv({ ...env, SERVICE_AUTH_STORE: address }, { store: memoryStore() })).toBeTruthy();
  });

  test('an audience that is a list, as serve takes it, is a problem', async () => {
    expect(await problemsOf({ ...env, SERVICE_AUTH_AUDIENCE: 'orders billing' })).toEqual({
      SERVICE_AUTH_AUDIENCE: expect.stringContaining('name one, and get the others from auth.for({ audience })'),
    });
  });

  describe('with the secret in a file', () => {
    const { SERVICE_AUTH_CLIENT_SECRET: _, ...withoutSecret } = env;
    let folder: string;
    let file: string;

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'service-auth-'));
      file = join(folder, 'client-secret');
    });

    afterEach(() => {
      rmSync(folder, { recursive: true });
    });

    test('reads it for every token request, so that a new secret needs no restart', async () => {
      writeFileSync(file, 'first\n');
      const options = optionsFromEnv({ ...withoutSecret, SERVICE_AUTH_CLIENT_SECRET_FILE: file });
      // A client calls the function for each token request.
      const clientSecret = options.clientSecret as () => Promise<string>;
      expect(await clientSecret()).toBe('first');
      writeFileSync(file, 'second\r\n');
      expect(await clientSecret()).toBe('second');
      rmSync(file);
      await expect(clientSecret()).rejects.toThrow('ENOENT');
    });

    test('a secret beside it, and a file that cannot be read, are problems', async () => {
      const given = { ...withoutSecret, SERVICE_AUTH_CLIENT_SECRET_FILE: file };
      expect(await problemsOf(given)).toEqual({
        SERVICE_AUTH_CLIENT_SECRET_FILE: 'names a file that cannot be read (Error ENOENT)',
      });
      writeFileSync(file, 'first');
      expect(await problemsOf({ ...given, SERVICE_AUTH_CLIENT_SECRET: 'other' })).toEqual({
        SERVICE_AUTH_CLIENT_SECRET_FILE: 'must not be set together with SERVICE_AUTH_CLIENT_SECRET',
      });
      for (const [content, problem] of Object.entries({
        '"first"': 'is wrapped in quotes',
        '\n': 'must be a string that is not empty',
      })) {
        writeFileSync(file, content);
        expect(await problemsOf(given)).toEqual({
          SERVICE_AUTH_CLIENT_SECRET_FILE: expect.stringContaining(`names a file whose content ${problem}`),
        });
      }
      expect(optionsFromEnv(given, { clientSecret: 'given in code' })).toMatchObject({ clientSecret: 'given in code' });
    });

    test('says what to do on a runtime without files', async () => {
      vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
      expect(await problemsOf({ ...withoutSecret, SERVICE_AUTH_CLIENT_SECRET_FILE: file })).toEqual({
        SERVICE_AUTH_CLIENT_SECRET_FILE: 'needs a runtime with files: give the option in code',
      });
      vi.restoreAllMocks();
    });

    test('takes the key of the store from a file, too', () => {
      writeFileSync(file, `${'k'.repeat(32)}\n`);
      expect(optionsFromEnv({ ...env, SERVICE_AUTH_STORE_KEY_FILE: file })).toMatchObject({ storeKey: 'k'.repeat(32) });
    });
  });

  test.each([
    ['SERVICE_AUTH_BASE_URL', 'SERVICE_BASE_URL'],
    ['SERVICE_AUTH_TOKENLIMIT', 'SERVICE_AUTH_TOKEN_LIMIT'],
    ['SERVICE_AUTH_LIMITS', 'SERVICE_AUTH_TOKEN_LIMIT'],
    ['SERVICE_AUTH_SECRET', 'SERVICE_AUTH_CLIENT_SECRET'],
    ['SERVICE_AUTH_CLIENTID', 'SERVICE_AUTH_CLIENT_ID'],
    ['SERVICE_AUTH_AUDIENCES', 'SERVICE_AUTH_AUDIENCE'],
    ['SERVICE_AUTH_SECRET_FILE', 'SERVICE_AUTH_CLIENT_SECRET_FILE'],
  ])('%s, which nothing reads, is a warning of the process that names %s', (name, meant) => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => emitWarning.mockRestore());
    optionsFromEnv({ ...env, [name]: 'a value', SERVICE_AUTH_NOTHING: '' });
    const warning = `Nothing reads the variable ${name}. Did you mean ${meant}?`;
    expect(emitWarning.mock.calls).toEqual([[warning, 'ServiceAuthWarning', 'SERVICE_AUTH_UNREAD_VARIABLE']]);
  });

  test.each(['SERVICE_AUTH_TIMEOUT_MS', 'SERVICE_AUTH_DEBUG', 'SERVICE_AUTH_TENANT'])(
    '%s is like none that is read',
    (name) => {
      const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
      onTestFinished(() => emitWarning.mockRestore());
      optionsFromEnv({ ...env, [name]: 'a value' });
      const warning = `Nothing reads the variable ${name}, so it has no effect.`;
      expect(emitWarning.mock.calls).toEqual([[warning, 'ServiceAuthWarning', 'SERVICE_AUTH_UNREAD_VARIABLE']]);
    },
  );

  test('one that is missing because it is misspelt is a warning, too', () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => emitWarning.mockRestore());
    const { SERVICE_AUTH_AUDIENCE, ...others } = env;
    const misspelt = { ...others, SERVICE_AUTH_AUDIENC: SERVICE_AUTH_AUDIENCE };
    expect(() => optionsFromEnv(misspelt)).toThrow('SERVICE_AUTH_AUDIENCE is not set');
    expect(emitWarning.mock.calls.flat()).toContain(
      'Nothing reads the variable SERVICE_AUTH_AUDIENC. Did you mean SERVICE_AUTH_AUDIENCE?',
    );
  });

  test.each([
    ['SERVICE_AUTH_CLIENT_ID', 'SERVICE_AUTH_CLIENTID', 'SERVICE_AUTH_CLIENT_ID'],
    ['SERVICE_AUTH_AUDIENCE', 'SERVICE_AUTH_AUDIENC', 'SERVICE_AUTH_AUDIENCE'],
    ['SERVICE_AUTH_CLIENT_SECRET', 'SERVICE_AUTH_SECRET', 'SERVICE_AUTH_CLIENT_SECRET'],
    ['SERVICE_AUTH_URL', 'SERVICE_AUTHURL', 'SERVICE_AUTH_URL'],
    ['SERVICE_AUTH_URL', 'service_auth_url', 'SERVICE_AUTH_URL'],
    ['SERVICE_AUTH_URL', 'SERVICE_AUTH_BASE_URL', 'SERVICE_AUTH_URL'],
    [
      'SERVICE_AUTH_CLIENT_SECRET',
      'SERVICE_AUTH_CLIENT_SECERT_FILE',
      'SERVICE_AUTH_CLIENT_SECRET or SERVICE_AUTH_CLIENT_SECRET_FILE',
    ],
  ])('the error of a missing %s says that %s may be meant as it', async (missing, misspelt, meant) => {
    const problems = await problemsOf({ ...env, [missing]: undefined, [misspelt]: secretCanary });
    const orElse = missing === 'SERVICE_AUTH_URL' ? ', nor SERVICE_AUTH_TOKEN_ENDPOINT' : '';
    const message = `is not set${orElse} (${misspelt} is set, but nothing reads it: did you mean ${meant}?)`;
    expect(problems).toEqual({ [missing]: message });
  });

  test('a variable that may be meant as the address of the API or of the server is told as both', async () => {
    const { SERVICE_AUTH_URL: _, SERVICE_BASE_URL, ...others } = env;
    expect(await problemsOf({ ...others, SERVICE_AUTH_BASE_URL: SERVICE_BASE_URL })).toEqual({
      SERVICE_AUTH_URL: expect.stringContaining('did you mean SERVICE_AUTH_URL or SERVICE_BASE_URL?'),
    });
  });

  test('a misspelt variable is told with the one that it is most like, and with no other', async () => {
    expect(await problemsOf({ SERVICE_AUTH_CLIENTID: 'a', SERVICE_AUTH_DEBUG: '1', SERVICE_AUTH_PORT: '1' })).toEqual({
      SERVICE_AUTH_URL: 'is not set, nor SERVICE_AUTH_TOKEN_ENDPOINT',
      SERVICE_AUTH_AUDIENCE: 'is not set',
      SERVICE_AUTH_CLIENT_ID: expect.stringContaining('did you mean SERVICE_AUTH_CLIENT_ID?'),
      SERVICE_AUTH_CLIENT_SECRET: 'is not set',
    });
  });

  test('a process that ends with the error prints the hint', () => {
    const program = `import { createServiceAuthFromEnv } from '@service-auth/core'; createServiceAuthFromEnv(process.env);`;
    const { SERVICE_AUTH_CLIENT_ID, ...others } = env;
    const args = ['--conditions=@service-auth/source', '--input-type=module', '--eval', program];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...process.env, ...others, SERVICE_AUTH_CLIENTID: SERVICE_AUTH_CLIENT_ID },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('SERVICE_AUTH_CLIENT_ID is not set (SERVICE_AUTH_CLIENTID is set, but nothing reads it');
  });

  test('variables that Kubernetes or the command line sets, or that `serve` reads, are no warnings', () => {
    const others = {
      SERVICE_AUTH_SERVICE_HOST: '10.0.0.1',
      SERVICE_AUTH_PORT_9180_TCP_ADDR: '10.0.0.1',
      SERVICE_AUTH_PORT: 'tcp://10.0.0.1:9180',
      SERVICE_AUTH_TOKEN: 'x',
      SERVICE_AUTH_REJECTED_STATUSES: '401,403',
    };
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => emitWarning.mockRestore());
    optionsFromEnv({ ...env, ...others });
    expect(emitWarning).not.toHaveBeenCalled();
  });

  test('passes on what is no problem of options', () => {
    const overrides = {
      get clock(): never {
        throw new RangeError('from a getter');
      },
    };
    expect(() => createServiceAuthFromEnv(env, overrides)).toThrow(RangeError);
    const ours = new ServiceAuthError('ERR_CLOSED', 'from a getter');
    const others = {
      get clock(): never {
        throw ours;
      },
    };
    expect(() => createServiceAuthFromEnv(env, others)).toThrow(ours);
  });
});
