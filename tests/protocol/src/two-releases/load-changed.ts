import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** One passage of core's source replaced by another, while it is loaded. */
export interface Change {
  /** Under `packages/core/src`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  /** `$&` is the passage itself. */
  readonly replace: string;
}

const source = new URL('../../../../packages/core/src/', import.meta.url);

/** The changed texts by address. Throws if a passage does not occur exactly once. */
function changedTexts(name: string, changes: readonly Change[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of changes) {
    const url = new URL(file, source).href;
    const parts = (texts.get(url) ?? readFileSync(new URL(url), 'utf8')).split(find);
    if (parts.length !== 2) throw new Error(`"${name}": a passage occurs ${parts.length - 1} times in ${file}`);
    texts.set(url, parts.join(replace.replace('$&', () => find)));
  }
  return texts;
}

/**
 * A module of core, and all that it imports, with these passages replaced. The unchanged core stays
 * beside it, because each module of the copy has the name in its address.
 */
export async function loadChanged<Module>(name: string, changes: readonly Change[], entry: string): Promise<Module> {
  const query = `?changed=${encodeURIComponent(name)}`;
  const texts = changedTexts(name, changes);
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const isCopied = resolved.url.startsWith(source.href) && context.parentURL?.endsWith(query);
      return isCopied ? { ...resolved, url: resolved.url + query } : resolved;
    },
    load(url, context, nextLoad) {
      const text = url.endsWith(query) ? texts.get(url.slice(0, -query.length)) : undefined;
      return text === undefined
        ? nextLoad(url, context)
        : { format: 'module-typescript', source: text, shortCircuit: true };
    },
  });
  try {
    return await import(new URL(entry + query, source).href);
  } finally {
    hooks.deregister();
  }
}
