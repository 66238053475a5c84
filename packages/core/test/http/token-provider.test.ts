import { expect, test } from 'vitest';
import { createAccessToken } from '../../src/contract/access-token.ts';
import { tokenProvider } from '../../src/http/index.ts';

/** A source that has another token after each rejection. It remembers what it was told. */
function createSource() {
  const rejected: string[] = [];
  const waits: unknown[][] = [];
  let count = 1;
  return {
    rejected,
    waits,
    renew(): void {
      count += 1;
    },
    async getToken(...details: unknown[]) {
      waits.push(details);
      return createAccessToken(`${count}`, `jwt-${count}`, 0, 0);
    },
    async invalidate({ id }: { readonly id: string }) {
      rejected.push(id);
      count += 1;
    },
  };
}

test('it resolves with the value of the token, whatever its client passes', async () => {
  const source = createSource();
  const token = tokenProvider(source) as (...details: unknown[]) => Promise<string>;
  expect(await token({ signal: 'of the client' })).toBe('jwt-1');
  expect(source.waits).toEqual([[]]);
});

test('a rejection is reported with the last token, and the next call has another one', async () => {
  const source = createSource();
  const token = tokenProvider(source);
  await token.rejected();
  expect(source.rejected).toEqual([]);
  await token();
  await token.rejected();
  expect(source.rejected).toEqual(['1']);
  expect(await token()).toBe('jwt-2');
});

test('a rejection that names its token is reported with that token, even if there is a newer one', async () => {
  const source = createSource();
  const token = tokenProvider(source);
  const first = await token();
  source.renew();
  await token();
  await token.rejected(`Bearer ${first}`);
  await token.rejected(first);
  await token.rejected(`Zoho-oauthtoken ${first}`);
  await token.rejected('of somebody else');
  expect(source.rejected).toEqual(['1', '1', '1']);
});

test('it remembers the newest eight tokens', async () => {
  const source = createSource();
  const token = tokenProvider(source);
  const values: string[] = [];
  for (let count = 0; count < 9; count += 1) {
    values.push(await token());
    source.renew();
  }
  await token.rejected(values[0]);
  await token.rejected(values[1]);
  expect(source.rejected).toEqual(['2']);
});

test('it rejects with the error of the client', async () => {
  const getToken = () => Promise.reject(new Error('no token'));
  await expect(tokenProvider({ ...createSource(), getToken })()).rejects.toThrow('no token');
});
