import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../../protocol/src/children.ts';
import { problemOf } from '../../protocol/src/two-releases/histories.ts';
import { openStore } from './stores.ts';

/** A store in which the histories of two releases happen, and the one that happens. */
export interface ReleasesTask {
  readonly kind: 'file' | 'redis' | 'postgres';
  readonly address: string;
  readonly history: string;
}

async function wipe({ kind, address }: ReleasesTask): Promise<void> {
  if (kind === 'file') {
    for (const name of readdirSync(address)) rmSync(join(address, name), { recursive: true });
  } else if (kind === 'redis') {
    const { Redis } = await import('ioredis');
    const client = new Redis(address);
    await client.flushall();
    client.disconnect();
  } else {
    const { default: pg } = await import('pg');
    const client = new pg.Client(address);
    await client.connect();
    await client.query('delete from service_auth');
    await client.end();
  }
}

serve(async (task: ReleasesTask): Promise<string> => {
  const { store, close } = await openStore(task.kind, task.address, 0);
  try {
    await wipe(task);
    // Each process has a handle of its own.
    const open = () => ({ ...store, load: store.load.bind(store), swap: store.swap.bind(store) });
    return await problemOf(task.history, { open, wipe: () => wipe(task) });
  } finally {
    await close();
  }
});
