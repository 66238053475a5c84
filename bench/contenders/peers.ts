import { readFileSync } from 'node:fs';
import type { Kind, Row } from '../harness/answer.ts';
import type { Client } from '../harness/client.ts';

/** Creates a client of some library; the function it returns gets a token. */
export type CreateSource = (client: Client) => () => Promise<string>;

const folder = new URL('../peers/', import.meta.url);

/** The libraries that keep a token (`caches`), or those that ask for one with each call (`requests`), by name. */
export async function loadSources(kind: 'caches' | 'requests'): Promise<Record<string, CreateSource>> {
  const { sources } = await loadPeerModule<{ sources: Record<string, CreateSource> }>(kind);
  return sources;
}

/** A module of `peers/`: JavaScript, because the types of its imports are installed only there. */
export async function loadPeerModule<Module>(name: string): Promise<Module> {
  return (await import(new URL(`${name}.js`, folder).href)) as Module;
}

const { dependencies: versions } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
  dependencies: Readonly<Record<string, string>>;
};

/** A row whose name says what it is: that of a peer begins with its library, and gets the pinned version. */
export function rowOf(name: string, cells: readonly string[], kind: Kind = kindOf(name)): Row {
  const library = libraryOf(name);
  const version = versions[library];
  return { name: version ? name.replace(library, `${library} ${version}`) : name, kind, cells };
}

export function kindOf(name: string): Kind {
  if (libraryOf(name) in versions) return 'peer';
  if (name.startsWith('handwritten')) return 'handwritten';
  return /^(@service-auth\/|service-auth |getToken|peekToken)/.test(name) ? 'ours' : 'limit';
}

function libraryOf(name: string): string {
  return name.split(/,? /)[0] ?? '';
}
