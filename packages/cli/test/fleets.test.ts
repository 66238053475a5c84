// `explain` reads the records that real clients write when something goes wrong.
import type { Store } from '@service-auth/core';
import { expect, test } from 'vitest';
import { concernsOf } from '../src/explain/concerns.ts';
import { scopeSentences } from '../src/explain/course.ts';
import { explain, otherHolds } from '../src/explain/explain.ts';
import type { Cause } from '../src/explain/finding.ts';
import { availability } from '../src/report/availability.ts';
import { checkLine } from '../src/report/check-line.ts';
import { holdSentence } from '../src/report/sentences.ts';
import { instant } from '../src/report/text.ts';
import { type Fleet, startFleet, tried } from './support/fleet.ts';

/** A record that is older than a day, so that it allows all that it ever will. */
async function settledFleet(options?: Parameters<typeof startFleet>[0]): Promise<Fleet> {
  const fleet = await startFleet(options);
  const worker = fleet.start('worker');
  for (let hours = 0; hours < 28; hours += 1) {
    await tried(worker.getToken());
    await fleet.pass(60);
  }
  return fleet;
}

async function causesOf({ usage, failures, clock, service }: Fleet): Promise<Cause[]> {
  const { audience } = service.credentials;
  return explain(await usage(), { now: clock.now(), audiences: [audience], failures: await failures() }).map(
    ({ cause }) => cause,
  );
}

/** The line of `check`, and what `usage` and `explain` say first. */
async function told({ usage, failures, clock }: Fleet): Promise<{ readonly line: string; readonly first: string }> {
  const [read, found, now] = [await usage(), await failures(), clock.now()];
  const { line } = checkLine(read, concernsOf(read, found, now), { warn: 80, crit: 95 }, now);
  return { line, first: availability(read, found, now) };
}

const key = (number: number) => `a key of 32 characters, and more ${number}`;

/** Starts a program and kills it when its token request is under way: nothing of it reaches the store after that. */
async function killedWhileItAsks(fleet: Fleet, instance: string): Promise<void> {
  let isDead = false;
  const never = () => new Promise<never>(() => {});
  const { durability, load, swap } = fleet.store;
  const store: Store = {
    durability,
    load: (...given) => (isDead ? never() : load(...given)),
    swap: (...given) => (isDead ? never() : swap(...given)),
  };
  await new Promise<void>((resolve) => {
    const transport = () => {
      resolve();
      return never();
    };
    void tried(fleet.start(instance, { audience: 'https://second.example/', store, transport }).getToken());
  });
  isDead = true;
}

const stories: Readonly<Record<string, readonly [cause: Cause | undefined, story: () => Promise<Fleet>]>> = {
  'a fleet that renews its token has no cause': [undefined, () => settledFleet()],
  'an API that answers 401 to every token is a 401 storm': [
    '401-storm',
    async () => {
      const fleet = await settledFleet();
      const api = fleet.start('api-7f9c');
      for (let call = 0; call < 60; call += 1) {
        const token = await api.getToken();
        await api.invalidate(token);
        await fleet.pass(10);
      }
      return fleet;
    },
  ],
  'a program that starts every 10 minutes with a key of its own restarts': [
    'restarts',
    async () => {
      const fleet = await settledFleet();
      for (let start = 0; start < 12; start += 1) {
        await tried(fleet.start('api-7f9c', { storeKey: key(start) }).getToken());
        await fleet.pass(10);
      }
      return fleet;
    },
  ],
  'many programs with keys of their own have different keys': [
    'different-keys',
    async () => {
      const fleet = await settledFleet();
      for (let start = 0; start < 12; start += 1) {
        await tried(fleet.start(`job-${start}`, { storeKey: key(start) }).getToken());
        await fleet.pass(7);
      }
      return fleet;
    },
  ],
  'a provider who has issued the tokens to somebody else is other programs': [
    'other-programs',
    async () => {
      const fleet = await settledFleet();
      fleet.service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '3600' } });
      await tried(fleet.start('api', { audience: 'https://second.example/' }).getToken());
      return fleet;
    },
  ],
  'a secret that is wrong is credentials that were rejected': [
    'credentials-rejected',
    async () => {
      const fleet = await settledFleet();
      await tried(
        fleet.start('api', { clientSecret: 'a secret that is wrong', audience: 'https://second.example/' }).getToken(),
      );
      return fleet;
    },
  ],
  'an endpoint that answers 503 without a token is an outage': [
    'outage',
    async () => {
      const fleet = await settledFleet();
      fleet.service.tokenEndpoint.always({ status: 503 });
      await tried(fleet.start('api', { audience: 'https://second.example/' }).getToken());
      return fleet;
    },
  ],
  'a program that resets its token at each start is resets': [
    'resets',
    async () => {
      const fleet = await settledFleet();
      for (let start = 0; start < 6; start += 1) {
        const cron = fleet.start('cron');
        await cron.getToken();
        await cron.reset({ reason: 'to be sure' });
        await tried(cron.getToken());
        await fleet.pass(20);
      }
      return fleet;
    },
  ],
  'another audience that spends most is many audiences': [
    'many-audiences',
    async () => {
      const audiences = ['https://api.example/', 'https://reports.example/'];
      const client = { clientId: 'client', clientSecret: 'secret', audiences };
      const fleet = await settledFleet({ clients: [client] });
      // Its tokens live for an hour.
      for (let hours = 0; hours < 20; hours += 1) {
        fleet.service.tokenEndpoint.always({ lifetimeMs: 3_600_000 });
        const reports = fleet.start('reports', { audience: audiences[1] ?? '' });
        await tried(reports.getToken());
        await fleet.pass(61);
      }
      return fleet;
    },
  ],
  'a record that was begun anew is a new record': [
    'new-record',
    async () => {
      const fleet = await startFleet();
      const api = fleet.start('api');
      for (let call = 0; call < 24; call += 1) {
        fleet.service.tokenEndpoint.always({ lifetimeMs: 300_000 });
        await api.getToken();
        await fleet.pass(6);
      }
      fleet.service.tokenEndpoint.clear();
      await api.getToken();
      return fleet;
    },
  ],
  'jobs that are killed while they ask are deaths': [
    'deaths',
    async () => {
      const fleet = await settledFleet();
      for (let run = 0; run < 6; run += 1) {
        await killedWhileItAsks(fleet, `job-${run}`);
        await fleet.pass(25);
      }
      return fleet;
    },
  ],
  'a limit of four is a low limit': ['low-limit', () => settledFleet({ tokens: 4 })],
  'tokens that live for ten minutes are short tokens': [
    'short-tokens',
    async () => {
      const fleet = await settledFleet({ lifetimeMs: 600_000 });
      await tried(fleet.start('worker').getToken());
      return fleet;
    },
  ],
  'programs with different limits are terms that differ': [
    'terms-differ',
    async () => {
      const fleet = await settledFleet();
      const programs = [fleet.start('other', { issuanceLimit: { tokens: 60 } }), fleet.start('worker')];
      // A program that finds a token states its limit when it reads the record again.
      for (let call = 0; call < 2; call += 1) {
        for (const program of programs) await program.getToken();
        await fleet.pass(1);
      }
      return fleet;
    },
  ],
  'requests that the endpoint never answers are unknown outcomes': [
    'unknown-outcomes',
    async () => {
      const fleet = await settledFleet();
      fleet.service.tokenEndpoint.always({ cut: 'answer' });
      for (let call = 0; call < 8; call += 1) {
        await tried(fleet.start('api-2', { audience: 'https://second.example/' }).getToken());
        await fleet.pass(50);
      }
      fleet.service.tokenEndpoint.clear();
      return fleet;
    },
  ],
};

/** The line of `check` and the first sentence of `usage`, where something is wrong. */
const firstWords: Readonly<Record<string, readonly [line: RegExp, first: RegExp]>> = {
  'an API that answers 401 to every token is a 401 storm': [
    /^WARNING - .*; the API of https:\S+ rejected the last \d+ tokens of api-7f9c \(401\)\|/,
    /^The limit leaves room for \d+ tokens, but the API of https:\S+ rejected the last \d+ tokens of api-7f9c \(401\)\. A new token for https:\S+ may be rejected like them\. Others get one\.$/,
  ],
  'a program that starts every 10 minutes with a key of its own restarts': [
    /^WARNING - .*; api-7f9c started 12 times without a token\|/,
    /^A caller without a token gets one now/,
  ],
  'many programs with keys of their own have different keys': [
    /^WARNING - .*; 12 instances started without a token that they could use\|/,
    /^A caller without a token gets one now/,
  ],
  'a provider who has issued the tokens to somebody else is other programs': [
    /^CRITICAL - [^;|]*, callers without a token are refused until \S+ UTC \(in 60 min\): the token endpoint answered 429\|/,
    /^A caller without a token is refused until .*answered 429/,
  ],
  'requests that the endpoint never answers are unknown outcomes': [
    /^(WARNING|CRITICAL) - [^;|]*; the last 8 token requests for https:\S+ brought no token \(no usable answer\)\|/,
    /^The limit leaves room for \d+ tokens?, but the last 8 token requests for https:\S+ brought no token \(no usable answer\)\. A caller without a token for https:\S+ may get none\. Others get one\.$/,
  ],
  'jobs that are killed while they ask are deaths': [
    /^(WARNING|CRITICAL) - [^;|]*; the programs of the last 6 token requests for https:\/\/second\.example\/ ended, or stood still, before the answer\|/,
    /programs (of the last 6 token requests|that asked for a token) for https:\/\/second\.example\/ ended/,
  ],
  'a program that resets its token at each start is resets': [
    /^WARNING - .*; 6 tokens replaced tokens that were reset\|/,
    /^A caller without a token gets one now/,
  ],
};

test.for(Object.entries(stories))('%s', async ([name, [cause, story]]) => {
  const fleet = await story();
  const causes = await causesOf(fleet);
  expect(causes.slice(0, 1), causes.join()).toEqual(cause === undefined ? [] : [cause]);
  const { line, first } = await told(fleet);
  if (cause === undefined) expect(line).toMatch(/^OK - [^;|]*\|/);
  const [inMonitoring, inWords] = firstWords[name] ?? [];
  if (inMonitoring && inWords) {
    expect(line).toMatch(inMonitoring);
    expect(first).toMatch(inWords);
  }
});

test('what is over is told as such, and monitoring is quiet again', async () => {
  const fleet = await settledFleet();
  for (let start = 0; start < 8; start += 1) {
    await tried(fleet.start('api-7f9c', { storeKey: key(start) }).getToken());
    await fleet.pass(10);
  }
  expect((await told(fleet)).line).toMatch(/^WARNING/);
  await fleet.pass(90);
  expect((await told(fleet)).line).toMatch(/^OK/);
  const usage = await fleet.usage();
  const now = fleet.clock.now();
  const [finding] = explain(usage, { now, audiences: [], failures: await fleet.failures() });
  expect(finding && scopeSentences(finding, usage, now)).toMatch(
    /None has followed for 1 h 40 min, so it may be over\.$/,
  );
});

test('a fleet that waits for a program that was killed while it asked is told for whom, and until when', async () => {
  const fleet = await settledFleet();
  const now = () => fleet.clock.now();
  const startedAt = now();
  await killedWhileItAsks(fleet, 'replica-1');
  const found = async () =>
    explain(await fleet.usage(), { now: now(), audiences: [], failures: await fleet.failures() });
  await fleet.clock.advance(9_000);
  expect(await found()).toEqual([]);
  await fleet.clock.advance(3_000);
  const [finding, ...others] = await found();
  expect(finding).toMatchObject({
    cause: 'deaths',
    evidence: `Programs without a token for https://second.example/ wait for replica-1 until ${instant(startedAt + 60_000, now())}: it has been asking since ${instant(startedAt, now())}, so it was killed meanwhile, or the token endpoint does not answer.`,
    remedy: expect.stringMatching(/^Look at replica-1: is it still running\?/),
    audiences: ['https://second.example/'],
  });
  expect(others).toEqual([]);
  // Whoever has a token waits for nobody.
  const usage = await fleet.usage();
  const tokens = usage.tokens.map((token) => ({ ...token, audience: 'https://second.example/' }));
  expect(explain({ ...usage, tokens }, { now: now(), audiences: [], failures: [] })).toEqual([]);
  await fleet.clock.advance(50_000);
  expect(await found()).toEqual([]);
});

test('an endpoint that failed is told also when the wait after that is over, until it issues a token', async () => {
  const fleet = await settledFleet();
  fleet.service.tokenEndpoint.always({ status: 404 });
  // It cannot decrypt the token of the others.
  const ask = () => tried(fleet.start('api', { storeKey: key(1) }).getToken());
  await ask();
  await fleet.pass(20);
  await ask();
  await fleet.pass(20);
  expect(await causesOf(fleet)).toEqual(['outage']);
  expect(await told(fleet)).toMatchObject({
    line: expect.stringMatching(
      /^WARNING - .*the last 2 token requests for https:\S+ brought no token \(the endpoint answered 404\)/,
    ),
    first: expect.stringMatching(
      /but the last 2 token requests for https:\S+ brought no token \(the endpoint answered 404\)/,
    ),
  });
  fleet.service.tokenEndpoint.clear();
  await ask();
  expect(await causesOf(fleet)).toEqual([]);
  expect((await told(fleet)).line).toMatch(/^OK/);
});

test('credentials that were rejected are told for an hour after the last wait, if nobody tries again', async () => {
  const fleet = await settledFleet();
  const wrong = { clientSecret: 'a secret that is wrong', audience: 'https://second.example/' };
  await tried(fleet.start('api', wrong).getToken());
  // Nobody else is told to be refused.
  expect(await told(fleet)).toMatchObject({
    line: expect.stringMatching(/^CRITICAL - [^;|]*, programs for https:\/\/second\.example\/ are refused until /),
    first: expect.stringMatching(
      /^Programs for https:\/\/second\.example\/ get no token: the token endpoint rejected their credentials \(40\d, instance \w+\)\. The next try is at .* Others are not affected before their tokens expire, the first at .*\)\.$/,
    ),
  });
  await tried(
    fleet.start('api', { clientSecret: 'another wrong secret', audience: 'https://third.example/' }).getToken(),
  );
  expect((await told(fleet)).line).toMatch(
    /programs for https:\/\/second\.example\/ and https:\/\/third\.example\/ are refused, the last of them until /,
  );
  await fleet.pass(20);
  expect(await causesOf(fleet)).toEqual(['credentials-rejected']);
  const told401 =
    /the token endpoint rejected the credentials for https:\/\/second\.example\/[^;]* \(40\d, instance \w+ at [-\d :]+\)/;
  expect(await told(fleet)).toMatchObject({
    line: expect.stringMatching(told401),
    first: expect.stringMatching(told401),
  });
  await fleet.pass(60);
  expect((await told(fleet)).line).toMatch(/^OK/);
});

test('an outage refuses callers without a token, and is told as that, for how long and why', async () => {
  const fleet = await settledFleet();
  fleet.service.tokenEndpoint.always({ status: 503 });
  await tried(fleet.start('api', { audience: 'https://second.example/' }).getToken());
  expect(await told(fleet)).toMatchObject({
    line: expect.stringMatching(
      /^CRITICAL - [^;|]*, callers without a token are refused until \S+ UTC \(in 1 s\): the token endpoint failed \(503\)\|.* available=0;/,
    ),
    first: expect.stringMatching(
      /^A caller without a token is refused until .* \(in 1 s\): the token endpoint failed \(503\)\./,
    ),
  });
});

test('an outage holds up callers without a token', async () => {
  const fleet = await settledFleet();
  fleet.service.tokenEndpoint.always({ status: 503 });
  await tried(fleet.start('api', { storeKey: key(1) }).getToken());
  expect((await fleet.usage()).holds).toMatchObject([{ kind: 'backoff', audience: undefined }]);
  expect((await told(fleet)).line).toMatch(/^CRITICAL/);
});

test('a client secret that only some programs have wrong is a warning that says what to compare', async () => {
  const fleet = await settledFleet();
  await tried(fleet.start('api', { clientSecret: 'a secret that is wrong' }).getToken());
  for (const minutes of [20, 60]) {
    expect(await told(fleet)).toMatchObject({
      line: expect.stringMatching(
        /^WARNING - [^;|]*; the token endpoint rejected the credentials of some programs for https:\S+ \(401, instance api at [-\d :]+\): compare their client secret [^|;]*\|/,
      ),
      first: expect.stringMatching(
        /^The limit leaves room for 109 tokens, but .* of some programs for .* Others get one\.$/,
      ),
    });
    expect(await causesOf(fleet)).toEqual(['credentials-rejected']);
    await fleet.pass(minutes);
  }
  expect((await told(fleet)).line).toMatch(/^OK/);
});

test('a client secret that was corrected is told no longer, unless it was that of another instance', async () => {
  const audience = 'https://second.example/';
  const client = { clientId: 'client', clientSecret: 'secret', audiences: ['https://api.example/', audience] };
  const fleet = await settledFleet({ clients: [client] });
  const wrong = { clientSecret: 'a secret that is wrong', audience };
  await tried(fleet.start('api', wrong).getToken());
  await fleet.pass(1);
  await fleet.start('worker', { audience }).getToken();
  expect((await told(fleet)).line).toMatch(/^WARNING - .* rejected the credentials of some programs for /);
  const { clock, usage, failures } = fleet;
  const findings = async () => {
    return explain(await usage(), { now: clock.now(), audiences: [audience], failures: await failures() });
  };
  const [waiting] = await findings();
  expect(waiting?.evidence).toContain('A token is in use nevertheless: it was requested with other credentials.');
  expect(waiting?.remedy).toContain('service-auth retry ends the wait');
  await fleet.pass(10);
  const [over] = await findings();
  expect(over?.evidence).toContain('The wait after that is over');
  expect(over?.remedy).not.toContain('retry');

  // The token of the others is not its own: it has a key of its own.
  await tried(fleet.start('api', { ...wrong, storeKey: key(1) }).getToken());
  await fleet.pass(1);
  await fleet.start('api', { audience, storeKey: key(1) }).getToken();
  expect(await told(fleet)).toMatchObject({
    line: expect.stringMatching(/^OK/),
    first: expect.stringMatching(/^A caller without a token gets one now/),
  });
  expect(await findings()).toEqual([]);
  // The wrong secret is on hold still, which usage and explain say.
  expect(otherHolds(await usage(), [])).toMatchObject([{ kind: 'credentials', audience }]);
});

test('a 401 that only holds up the next one is told by explain, too', async () => {
  const fleet = await settledFleet();
  const api = fleet.start('api');
  await api.invalidate(await api.getToken());
  await tried(api.getToken());
  const findings = explain(await fleet.usage(), {
    now: fleet.clock.now(),
    audiences: [],
    failures: await fleet.failures(),
  });
  expect(findings).toEqual([]);
  expect(otherHolds(await fleet.usage(), findings)).toMatchObject([{ kind: 'rejections' }]);
});

test.for([
  ['different-keys', (start: number) => `job-${start}`],
  ['restarts', () => 'api'],
] as const)('%s is named when it has spent a limit of three', async ([cause, nameOf]) => {
  const fleet = await startFleet();
  const issuanceLimit = { tokens: 3, reserve: 0 };
  for (let start = 0; start < 4; start += 1) {
    await tried(fleet.start(nameOf(start), { issuanceLimit, storeKey: key(start) }).getToken());
    await fleet.pass(3);
  }
  expect(await causesOf(fleet)).toEqual([cause, 'low-limit']);
});

test('a client secret that was withdrawn while a token lives is told apart from one that only some programs have wrong', async () => {
  const fleet = await settledFleet();
  const worker = fleet.start('worker');
  fleet.service.setClientSecret('the next secret');
  while ((await fleet.failures()).length === 0) {
    await fleet.pass(30);
    await tried(worker.getToken());
  }
  expect((await fleet.usage()).tokens).toHaveLength(1);
  const { line, first } = await told(fleet);
  expect(line).toMatch(
    /^WARNING - [^;|]*; the token endpoint rejected the credentials for https:\S+ \(401, instance worker at [-\d :]+\), whose token lives until [-\d :]+: compare their client secret [^|;]*\|/,
  );
  expect(first).not.toContain('some programs');
  const { audience } = fleet.service.credentials;
  const [finding] = explain(await fleet.usage(), {
    now: fleet.clock.now(),
    audiences: [audience],
    failures: await fleet.failures(),
  });
  expect(finding?.evidence).toContain('so the secret was withdrawn since');
});

test('programs that died are told before anybody asks again', async () => {
  const fleet = await settledFleet();
  const kill = async (instance: string) => {
    await killedWhileItAsks(fleet, instance);
    await fleet.pass(3);
  };
  await kill('job-1');
  await kill('job-2');
  const [second, row] = ['https://second.example/', /the programs of the last 2 token requests for https:\S+ ended/];
  expect(await told(fleet)).toMatchObject({
    line: expect.stringMatching(/^WARNING - [^;|]*; the programs of the last 2 token requests for /),
    first: expect.stringMatching(row),
  });
  expect(await causesOf(fleet)).toEqual(['deaths']);
  // A process that died was waited for while it asked. When the pause is longer than that, it holds.
  for (let job = 3; (await fleet.usage()).holds.length === 0; job += 1) {
    await killedWhileItAsks(fleet, `job-${job}`);
    await fleet.pass(1.1);
  }
  const because = `programs that asked for a token for ${second} ended before the answer`;
  const { line, first } = await told(fleet);
  expect(line).toMatch(/^CRITICAL/);
  expect(line).toMatch(/, callers without a token are refused until \d\d:\d\d UTC \(in [^)]*\): /);
  expect(line).toContain(`: ${because}; `);
  expect(first).toContain(`: ${because}.`);
  const now = fleet.clock.now();
  expect((await fleet.usage()).holds.map((hold) => holdSentence(hold, now))).toEqual([
    expect.stringMatching(
      /^Several processes died while they asked for a token\. No token is requested until \d\d:\d\d \(in /,
    ),
  ]);
});

test('of several audiences the one whose API answers 401 is named, and whose tokens it rejected', async () => {
  const [own = '', partner = ''] = ['https://api.example/', 'https://partner.example/'];
  const fleet = await settledFleet({
    clients: [{ clientId: 'client', clientSecret: 'secret', audiences: [own, partner] }],
  });
  const reports = fleet.start('reports-worker', { audience: partner });
  for (let call = 0; call < 10; call += 1) {
    await reports.invalidate(await reports.getToken());
    await fleet.pass(30);
  }
  const { first } = await told(fleet);
  expect(first).toMatch(
    /but the API of https:\/\/partner\.example\/ rejected the last \d+ tokens of reports-worker \(401\)\./,
  );
  const usage = await fleet.usage();
  const now = fleet.clock.now();
  const [finding] = explain(usage, { now, audiences: [], failures: await fleet.failures() });
  expect(finding?.cause).toBe('401-storm');
  expect(finding && scopeSentences(finding, usage, now)).toMatch(
    /^For https:\/\/partner\.example\/, by instance reports-worker: first at .* ago\), last at .* ago\)\. It goes on\.$/,
  );
});
