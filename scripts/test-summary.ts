import type { Reporter, TestModule } from 'vitest/node';

/** Closes a test run with one line of true counts: `123 passed, 0 failed`. */
export default class TestSummary implements Reporter {
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

    console.log(`${count('passed')} passed, ${count('failed') + broken + brokenSuites} failed`);
    if (skipped > 0) console.log(`${skipped} skipped${why && `: ${why}`}`);
  }
}
