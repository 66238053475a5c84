import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../../protocol/src/children.ts';
import { histories } from '../../protocol/src/two-releases/histories.ts';
import { createPlace } from '../../protocol/src/two-releases/place.ts';
import { loadReleases } from '../../protocol/src/two-releases/releases.ts';
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

/** Resolves with why a history is not as it must be; an empty text: it is. */
serve(async (task: ReleasesTask): Promise<string> => {
  const { store, close } = await openStore(task.kind, task.address, 0);
  try {
    await wipe(task);
    // Each process has a handle of its own.
    const open = () => ({ ...store, load: store.load.bind(store), swap: store.swap.bind(store) });
    await histories[task.history]?.(await createPlace({ open, wipe: () => wipe(task) }), await loadReleases());
    return '';
  } catch (error) {
    return String((error as Error).stack);
  } finally {
    await close();
  }
});
