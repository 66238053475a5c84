import { fileURLToPath } from 'node:url';
import { defaultServerConditions } from 'vite';
import type { ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Begins with the file that noticed the last mutant and goes on with the quickest, so that most mutants are noticed before the slow files begin. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification) => {
      const result = this.ctx.cache.getTestSpecificationResult(file);
      return result?.failed ? -1 : (result?.duration ?? 0);
    };
    return [...files].sort((a, b) => rank(a) - rank(b));
  }
}

const mutated = process.env['MUTATION_PACKAGE'] ?? '';

// Some tests, in one thread without isolation: a mutant takes a second instead of a minute.
const config: ViteUserConfig = {
  // The links between packages lead back to the originals.
  resolve: {
    alias: [
      {
        find: new RegExp(`^@service-auth/${mutated}$`),
        replacement: fileURLToPath(new URL(`../../packages/${mutated}/src/index.ts`, import.meta.url)),
      },
    ],
  },
  ssr: { resolve: { conditions: ['@service-auth/source', ...defaultServerConditions] } },
  test: {
    include: (process.env['MUTATION_TESTS'] ?? '').split(' '),
    execArgv: ['--conditions=@service-auth/source'],
    isolate: false,
    sequence: { sequencer: QuickestFirst },
    // A mutant that never answers is noticed after this time.
    testTimeout: Number(process.env['MUTATION_TEST_TIMEOUT']),
    fsModuleCache: false,
  },
};

export default config;
