import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const mostListed = 20;

/**
 * Closes a test run with what failed, one line each, and with true counts, of each folder and in one line: `123 passed, 0 failed`. A folder that ran no test
 * fails a whole run.
 * `scripts/test/checks.test.ts` finds the files that no run contains.
 */
export default class TestSummary implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file or suite that broke before its tests ran, or an error outside any test, has no test to count and still is a failure.
    const broken = modules.reduce((sum, module) => sum + module.errors().length, 0) + unhandledErrors.length;
    const suites = modules.flatMap((module) => [...module.children.allSuites()]);
    const brokenSuites = suites.reduce((sum, suite) => sum + suite.errors().length, 0);
    const skipped = count('skipped');
    const notes = new Set(tests.map((test) => test.result()).map((result) => 'note' in result && result.note));
    const why = [...notes].filter((note) => typeof note === 'string').join('; ');

    const failed = tests.filter((test) => test.result().state === 'failed');
    for (const module of modules.filter((module) => module.errors().length > 0)) console.log(`✗ ${fileOf(module)}`);
    for (const { module, fullName } of failed.slice(0, mostListed)) console.log(`✗ ${fileOf(module)} > ${fullName}`);
    const missing = this.#isWhole() ? this.#reportGroups(modules) : [];
    for (const group of missing) console.log(`${group} ran no test`);
    if (missing.length > 0) process.exitCode = 1;
    console.log(`${count('passed')} passed, ${failed.length + broken + brokenSuites + missing.length} failed`);
    if (skipped > 0) console.log(`warning: ${skipped} skipped${why && `: ${why}`}`);
  }

  /** True if the run is not limited to some files or some tests. */
  #isWhole(): boolean {
    const { testNamePattern, shard, related } = this.#vitest?.config ?? {};
    // A field that Vitest does not document. Without it every run would count as whole, and a run of some files would fail.
    const files: unknown = this.#vitest && Reflect.get(this.#vitest, 'filenamePattern');
    return !(files || testNamePattern || shard || related);
  }

  /** Prints how many tests each group ran, and returns the groups that ran none. A test that is skipped in CI has not run. */
  #reportGroups(modules: readonly TestModule[]): string[] {
    const ran = new Map<string, number>();
    for (const module of modules) {
      const tests = [...module.children.allTests()].map((test) => test.result().state);
      const counted = tests.filter((state) => state !== 'skipped' || !process.env['CI']).length;
      ran.set(groupOf(module), (ran.get(groupOf(module)) ?? 0) + counted);
    }
    const groups = [...ran].sort();
    for (const [group, number] of groups) console.log(`${group.padEnd(32)} ${`${number}`.padStart(5)}`);
    return groups.filter(([, number]) => number === 0).map(([group]) => group);
  }
}

function fileOf({ moduleId }: TestModule): string {
  return relative(process.cwd(), moduleId);
}

/** A project of `pnpm check compat`, or else the folder that the tests are in. */
function groupOf(module: TestModule): string {
  const { name } = module.project;
  return name.startsWith('compat ') ? name : fileOf(module).replace(/\/test\/.*/, '');
}
