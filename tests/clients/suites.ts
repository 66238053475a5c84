import { fileURLToPath } from 'node:url';

/** The tests of a client, from its repository. */
export interface Suite {
  readonly repository: string;
  readonly version: string;
  readonly commit: string;
  /** The module that the tests import as the client. */
  readonly entry: string;
  /** Commands after the installation. */
  readonly build?: readonly (readonly string[])[];
  /** The command. It prints a line of TAP for each test. */
  readonly run: readonly string[];
  /** Its last arguments: all tests, or at least these. */
  readonly all: readonly string[];
  readonly some: (tests: readonly string[]) => readonly string[];
  /** A module that attaches our adapter before a test begins. */
  readonly preload?: string;
  /** A module that the tests get in place of `entry`. */
  readonly standIn?: string;
}

// AVA names the file of a test only if there are several.
const byTitle = (tests: readonly string[]) => tests.map((test) => `--match=${test.split(' › ').slice(1).join(' › ')}`);
const byFile = (tests: readonly string[]) => [...new Set(tests.map((test) => test.split(' > ')[0] ?? ''))];
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** The newest releases whose tests run as they are, without browsers and without other hosts than this one. */
export const suites: Readonly<Record<string, Suite>> = {
  ky: {
    repository: 'https://github.com/sindresorhus/ky',
    // And 14 commits, which have more tests.
    version: '2.0.2',
    commit: '3419113b48e034fdcf8fa6bd3be3da7b3d0d758f',
    entry: 'source/index.ts',
    // The tests in `browser.ts` need browsers.
    run: ['node_modules/.bin/ava', '--tap', 'test/*.ts', '!test/browser.ts'],
    all: [],
    some: byTitle,
    preload: here('attach/ky.ts'),
  },
  got: {
    repository: 'https://github.com/sindresorhus/got',
    version: '15.0.5',
    commit: 'd00d845a0b435365ec73ea5a1fca6e17ee677184',
    entry: 'source/index.ts',
    // A failed test leaves servers open, and AVA waits for them to end, by got's configuration for ten minutes.
    run: ['node_modules/.bin/ava', '--tap', '--timeout=1m', '--node-arguments=--import=tsx/esm'],
    all: [],
    some: byTitle,
    standIn: here('attach/got.ts'),
  },
  axios: {
    repository: 'https://github.com/axios/axios',
    version: '1.18.1',
    commit: 'a209bfb1e5dcbce3cecbf4bd955339d006358887',
    entry: 'index.js',
    run: ['node_modules/.bin/vitest', 'run', '--reporter=tap-flat', `--config=${here('attach/axios.config.ts')}`],
    all: [],
    some: byFile,
  },
  undici: {
    repository: 'https://github.com/nodejs/undici',
    version: '8.10.0',
    commit: 'c8d80e6b2dcfab282557b08f51352937bc9e5692',
    entry: 'index.js',
    build: [
      ['npm', 'run', 'generate-pem'],
      ['npm', 'run', 'build:node'],
    ],
    run: [
      'node',
      '--expose-gc',
      '--test',
      '--test-force-exit',
      '--test-timeout=60000',
      `--test-reporter=${here('report-flat.ts')}`,
    ],
    // What an interceptor can change. The others take half an hour, or test parts that send nothing.
    all: [
      'test/{client,client-connect,client-pipeline,client-post,client-request,client-stream,client-upgrade}.js',
      'test/{headers-as-array,mock-agent,mock-client,mock-pool,pool,promises,query,request,request-signal}.js',
      'test/{redirect-pipeline,redirect-request,redirect-stream,retry-agent,trailers}.js',
    ],
    some: byFile,
    preload: here('attach/undici.ts'),
  },
};
