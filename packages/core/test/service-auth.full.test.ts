import { describe, expect, test } from 'vitest';
import { createServiceAuth, createUsageReader } from '../src/index.ts';
import { createBed, day, failure, hour, minute, ofProcess } from './support/bed.ts';

const issuanceLimit = { tokens: 1_000, reserve: 0 };

/** Audiences ask one after another, until one is refused. `length`: that of their tokens. */
async function filled(maxRecordBytes: number, length: number) {
  const bed = createBed();
  bed.endpoint.otherwise((request) => bed.endpoint.issueWith({ access_token: uniqueToken(length) })(request));
  const client = (audience: string) => {
    return bed.client({ store: { ...ofProcess(bed.store), maxRecordBytes }, audience, issuanceLimit });
  };
  for (let count = 0; count < 200; count++) {
    const auth = client(`api ${count}`);
    const error = await bed.clock.until(auth.getToken()).then(
      () => undefined,
      (refused: unknown) => refused,
    );
    if (error) return { ...bed, client, count, error };
  }
  throw new Error('the record did not become full');
}

let tokens = 0;
function uniqueToken(length: number): string {
  tokens += 1;
  return `${tokens}`.padStart(length, 'x');
}

describe('a record that is full', () => {
  test('is full for a reader of the usage, too', async () => {
    const { store, clock } = await filled(20_000, 500);
    const who = { authUrl: 'https://auth.example.com', clientId: 'client-1' };
    const read = (maxRecordBytes: number) =>
      createUsageReader({ ...who, store: { ...ofProcess(store), maxRecordBytes }, clock }).getUsage();
    expect(await read(20_000)).toMatchObject({ refusedBecause: 'full', availableNow: 0 });
    expect(await read(40_000)).toMatchObject({ refusedBecause: undefined });
  });

  test.each([
    [20_000, 500],
    [200_000, 16_000],
  ])(
    'of %i bytes, with tokens of %i characters, refuses another audience before anything is sent',
    async (bytes, length) => {
      const { client, clock, count, endpoint, error, store, token } = await filled(bytes, length);
      expect(error).toMatchObject({ code: 'ERR_STORE', reason: 'full', retryAt: clock.now() + hour });
      expect(count).toBeGreaterThan(3);
      expect(await clock.until(client('another').getUsage())).toMatchObject({
        refusedBecause: 'full',
        refusedUntil: clock.now() + hour,
        availableNow: 0,
      });
      expect(endpoint.requests.length).toBe(count);
      expect((await store.text())?.length).toBeLessThanOrEqual(bytes);
      // The audiences with a token go on: other processes adopt it, replace it when the API rejects it, and reset it.
      const other = client('api 0');
      const adopted = await token(other);
      await clock.until(other.invalidate(adopted));
      expect((await token(other)).id).not.toBe(adopted.id);
      await clock.until(other.reset());
      await token(other);
      expect(endpoint.requests.length).toBe(count + 2);
      expect((await store.text())?.length).toBeLessThanOrEqual(bytes);
    },
  );

  test('admits another audience when tokens have expired', async () => {
    const { client, clock, token } = await filled(20_000, 500);
    await failure('ERR_STORE', clock.until(client('late').getToken()));
    await clock.advance(25 * hour);
    await token(client('late'));
  });

  test('takes the token of an audience that did not fit after all to nobody but the process that requested it', async () => {
    const { clock, client, endpoint, store, token } = await filled(20_000, 500);
    endpoint.next((request) => endpoint.issueWith({ access_token: uniqueToken(16_000) })(request));
    const auth = client('api 0');
    await clock.until(auth.invalidate(await token(auth)));
    const large = await token(auth);
    expect(large.value).toHaveLength(16_000);
    expect((await store.text())?.length).toBeLessThanOrEqual(20_000);
    await clock.advance(5 * minute);
    expect((await token(auth)).value).toBe(large.value);
  });

  test('lets a caller without a token have one that is too large for the record', async () => {
    const bed = createBed();
    const store = { ...ofProcess(bed.store), maxRecordBytes: 20_000 };
    bed.endpoint.otherwise((request) => bed.endpoint.issueWith({ access_token: uniqueToken(16_384) })(request));
    await bed.token(bed.client({ store, audience: 'one' }));
    const auth = bed.client({ store, audience: 'another' });
    const first = await bed.token(auth);
    expect(bed.endpoint.issued).toBe(2);
    // It is renewed ahead of its end like any other.
    await bed.clock.advance(0.95 * day);
    await bed.use(auth, minute);
    expect(bed.endpoint.issued).toBe(3);
    expect((await bed.token(auth)).value).not.toBe(first.value);
  });

  test('is not filled by audiences that the endpoint refuses', async () => {
    const bed = createBed();
    bed.endpoint.otherwise(() => ({ status: 403, headers: {}, body: '{}' }));
    const store = { ...ofProcess(bed.store), maxRecordBytes: 20_000 };
    for (let count = 0; count < 80; count++) {
      await failure(
        'ERR_CREDENTIALS_REJECTED',
        bed.clock.until(bed.client({ store, audience: `${count}` }).getToken()),
      );
    }
    expect((await bed.store.text())?.length).toBeLessThanOrEqual(20_000);
    bed.endpoint.otherwise(bed.endpoint.issue);
    await bed.token(bed.client({ store, audience: 'another' }));
  });
});

test('a store must state a bound that a record can keep', () => {
  const { store } = createBed();
  for (const maxRecordBytes of [2_999, 4_000_001, 3_000.5, '9000']) {
    const options = {
      authUrl: 'https://auth.example.com',
      audience: 'a',
      clientId: 'c',
      clientSecret: 's'.repeat(20),
      store: { ...ofProcess(store), maxRecordBytes: maxRecordBytes as number },
    };
    expect(() => createServiceAuth(options)).toThrow('maxRecordBytes of 3,000 to 4,000,000');
  }
});
