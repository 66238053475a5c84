import { existsSync, readFileSync } from 'node:fs';
import type { Client } from '../harness/client.ts';

/** Creates a client of some library; the function it returns gets a token. */
export type CreateSource = (client: Client) => () => Promise<string>;

const folder = new URL('../peers/', import.meta.url);

/** True if the peers are installed. `--quick` does not need them. */
export function hasPeers(): boolean {
  return existsSync(new URL('node_modules/.modules.yaml', folder));
}

/** The libraries that keep a token (`caches`), or those that ask for one with each call (`requests`), by name. */
export async function loadSources(kind: 'caches' | 'requests'): Promise<Record<string, CreateSource>> {
  const { sources } = await loadPeerModule<{ sources: Record<string, CreateSource> }>(kind);
  return sources;
}

/** A module of `peers/`: JavaScript, because the types of its imports are installed only there. */
export async function loadPeerModule<Module>(name: string): Promise<Module> {
  return (await import(new URL(`${name}.js`, folder).href)) as Module;
}

/** The pinned version of each peer. */
export function peerVersions(): Record<string, string> {
  const manifest = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return manifest.dependencies;
}
