import { createServiceAuth } from '@service-auth/core';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startEtcd } from '@service-auth/test-tools/servers/etcd';
import { type OpenStore, startTestService, storeContract } from '@service-auth/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { etcdStore } from '../custom-store.ts';

const etcd = await orSkip(() => startEtcd());
afterAll(() => etcd?.stop());

describe.runIf(etcd)('the store of custom-store.ts', () => {
  const open: OpenStore = async () => {
    const another = async () => etcdStore(etcd?.url ?? '');
    return { store: await another(), another, close: async () => {} };
  };
  test.each(storeContract(open))('$name', ({ run }) => run());

  test('keeps token and count when its server is killed', async () => {
    await using service = await startTestService();
    const cold = async () => {
      await using auth = createServiceAuth({ ...service.options, store: etcdStore(etcd?.url ?? '') });
      return (await auth.getToken()).id;
    };
    const ids = await Promise.all(Array.from({ length: 10 }, cold));
    await etcd?.kill();
    await etcd?.restart();
    expect(new Set([...ids, await cold()]).size).toBe(1);
    expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1 });
  });
});
