// `explain` reads the records that real clients write when something goes wrong.
import { expect, test } from 'vitest';
import { explain } from '../src/explain/explain.ts';
import type { Cause } from '../src/explain/finding.ts';
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

async function causesOf({ usage, clock, service }: Fleet): Promise<Cause[]> {
  const { audience } = service.credentials;
  return explain(await usage(), { now: clock.now(), audience }).map(({ cause }) => cause);
}

const key = (number: number) => `a key of 32 characters, and more ${number}`;

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
  'an operator who has issued the tokens to somebody else is other programs': [
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
        await fleet.pass(120);
      }
      fleet.service.tokenEndpoint.clear();
      return fleet;
    },
  ],
};

test.for(Object.entries(stories))('%s', async ([, [cause, story]]) => {
  const fleet = await story();
  const causes = await causesOf(fleet);
  expect(causes.slice(0, 1), causes.join()).toEqual(cause === undefined ? [] : [cause]);
});
