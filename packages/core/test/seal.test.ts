import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { joined, open, randomId, recordKeyOf, seal, sealingKey } from '../src/record/seal.ts';
import { secretCanary, tokenCanary } from './support/canaries.ts';

const context = ['https://auth.example.com/oauth/token', 'client-1', 'orders', 'id', '7', '1767225600000'];
const keyOfClient = () => sealingKey(secretCanary, undefined, 'client-1');

describe('a sealed token', () => {
  test('is opened by the same key with the same context, and by nothing else', async () => {
    const key = await keyOfClient();
    const sealed = await seal(key, tokenCanary, context);
    expect(await open(key, sealed, context)).toBe(tokenCanary);
    for (const [index, part] of context.entries()) {
      const other = context.with(index, `${part}x`);
      expect(await open(key, sealed, other)).toBeUndefined();
    }
    expect(await open(key, sealed, context.slice(1))).toBeUndefined();
    const others = [
      await sealingKey(`${secretCanary}x`, undefined, 'client-1'),
      await sealingKey(secretCanary, undefined, 'client-2'),
      await sealingKey(secretCanary, 'k'.repeat(32), 'client-1'),
    ];
    for (const other of others) expect(await open(other, sealed, context)).toBeUndefined();
  });

  test('has a tag of 128 bits, which Node 20 would otherwise read from a polluted Object.prototype', async () => {
    const key = await keyOfClient();
    const encrypt = vi.spyOn(crypto.subtle, 'encrypt');
    onTestFinished(() => encrypt.mockRestore());
    await seal(key, tokenCanary, context);
    expect(Object.entries(encrypt.mock.calls[0]?.[0] ?? {})).toContainEqual(['tagLength', 128]);
  });

  test('shows nothing, and is never the same twice', async () => {
    const key = await keyOfClient();
    const [one, two] = [await seal(key, tokenCanary, context), await seal(key, tokenCanary, context)];
    expect(one).not.toBe(two);
    expect(one).toMatch(/^[\w-]+$/);
    expect(atob(one.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain(tokenCanary.slice(0, 6));
  });

  test('of which a single bit differs is not opened, nor one that is shortened', async () => {
    const key = await keyOfClient();
    const sealed = await seal(key, 'short', context);
    const bytes = Buffer.from(sealed, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(await open(key, changed.toString('base64url'), context)).toBeUndefined();
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(await open(key, sealed.slice(0, length), context)).toBeUndefined();
    }
    expect(await open(key, 'not base64 !', context)).toBeUndefined();
  });

  test('of an earlier version is opened, with the ids that its keys had', async () => {
    const earlier = await sealingKey('the secret', undefined, 'client-1');
    expect([earlier.id, earlier.secretId]).toEqual(['-AhvmmxT-rH3', 'wfFkW0zmUAo4']);
    const sealed = 'EU9CgMRp4x7TG--pK9Qr4RyQP04TVCKktAG8QLps0q9APZr29w';
    expect(await open(earlier, sealed, ['a', 'b'])).toBe('the token');
    expect((await sealingKey('the secret', 'k'.repeat(32), 'client-1')).id).toBe('5ZDmr54zEUp1');
  });

  test('of any length comes back', async () => {
    const key = await keyOfClient();
    for (const text of ['a', 'ab', 'abc', 'ü€', 'ü€'.repeat(8_192)]) {
      const sealed = await seal(key, text, context);
      expect(sealed).toMatch(/^[\w-]+$/);
      expect(await open(key, sealed, context)).toBe(text);
    }
  });
});

describe('keys', () => {
  test('are equal for equal secrets, and their ids do not reveal the secret', async () => {
    const key = await keyOfClient();
    const again = await sealingKey(secretCanary, undefined, 'client-1');
    expect([again.id, again.secretId]).toEqual([key.id, key.secretId]);
    expect(key.id).toMatch(/^[\w-]{12}$/);
    expect(key.key.extractable).toBe(false);
    expect(key.id).not.toBe(key.secretId);
  });

  test('of a store key stay when the secret changes, in every form of the store key', async () => {
    const key = await keyOfClient();
    const text = 'k'.repeat(32);
    const keys = [
      await sealingKey('old', text, 'client-1'),
      await sealingKey('new', text, 'client-1'),
      await sealingKey('new', Buffer.from(text), 'client-1'),
    ];
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
    expect(new Set(keys.map(({ secretId }) => secretId)).size).toBe(2);
    const sealed = await seal(keys[0] ?? key, 'x', context);
    expect(await open(keys[2] ?? key, sealed, context)).toBe('x');
  });
});

describe('names', () => {
  test('no two lists of parts are joined to the same bytes', () => {
    const lists = [['a', 'bc'], ['a\0\0\0\0bc'], ['ab', 'c'], ['abc'], ['', 'abc'], ['abc', ''], ['a|bc'], []];
    expect(new Set(lists.map((parts) => Buffer.from(joined(parts)).toString('hex'))).size).toBe(lists.length);
  });

  test('a record is kept under a name that tells nothing', async () => {
    const name = await recordKeyOf('https://auth.example.com/oauth/token', 'client-1');
    // The same in every version, or an update would forget the count.
    expect(name).toBe('6ed9639a1378af61cdd15c51c54fe9097628660a');
    expect(await recordKeyOf('https://auth.example.com/oauth/token', 'client-1')).toBe(name);
    expect(await recordKeyOf('https://auth.example.com/oauth/toke', 'nclient-1')).not.toBe(name);
  });

  test('random ids are safe anywhere, and do not repeat', () => {
    const ids = Array.from({ length: 1_000 }, randomId);
    expect(new Set(ids).size).toBe(1_000);
    expect(ids.every((id) => /^[\w-]{12}$/.test(id))).toBe(true);
  });

  test('random ids and seals differ in processes that one image of memory began, whose random generators are the same', async () => {
    const generator = vi.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => bytes);
    onTestFinished(() => generator.mockRestore());
    const key = await keyOfClient();
    const one = [randomId(), await seal(key, tokenCanary, context)];
    const before = performance.now();
    while (performance.now() === before);
    const other = [randomId(), await seal(key, tokenCanary, context)];
    expect(other[0]).not.toBe(one[0]);
    expect(other[1]?.slice(0, 16)).not.toBe(one[1]?.slice(0, 16));
    expect(await open(key, other[1] ?? '', context)).toBe(tokenCanary);
  });
});
