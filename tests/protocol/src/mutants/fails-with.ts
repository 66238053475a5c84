import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';
import { textsOf } from './load.ts';
import type { Mutant } from './mutant.ts';

const root = fileURLToPath(new URL('../../../../packages/core', import.meta.url));
const conditions = ['@service-auth/source', 'node'];

/** Runs a test file of core with the mutant's passages in place of core's. Returns whether a test of it fails. */
export async function failsWith(mutant: Mutant, file: string): Promise<boolean> {
  const texts = new Map([...textsOf(mutant)].map(([url, text]) => [fileURLToPath(url), text]));
  const seen = new Set<string>();
  const mutation = {
    name: mutant.name,
    enforce: 'pre' as const,
    load(id: string) {
      const text = texts.get(id);
      if (text !== undefined) seen.add(id);
      return text;
    },
  };
  // A cache of modules on disk would not know which mutant they have.
  const options = { watch: false, fsModuleCache: false, bail: 1, maxWorkers: 1, reporters: [{}], testTimeout: 120_000 };
  const vitest = await startVitest(
    'test',
    [`test/${file}.test.ts`],
    { ...options, config: false, root },
    { plugins: [mutation], ssr: { resolve: { conditions } } },
  );
  const modules = vitest.state.getTestModules();
  const failed = vitest.state.getCountOfFailedTests();
  const errors = modules.flatMap((module) => module.errors());
  await vitest.close();
  process.exitCode = undefined;
  // A file that cannot be run, or does not import the passage, catches nothing.
  if (modules.length !== 1 || errors.length > 0) throw new Error(`${file} cannot be run with "${mutant.name}"`);
  return failed > 0 && seen.size === texts.size;
}
