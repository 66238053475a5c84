type Suite = 'servers' | 'command-line' | 'examples' | 'reliability' | 'observability' | 'site' | 'frameworks';

/** The test files that need a server, start many processes or take minutes, by the check that runs them. `pnpm test` runs all others. */
export const suites: Record<Suite, readonly string[]> = {
  servers: [
    'packages/{dynamodb,mysql,postgres,redis}/test/**/*.test.ts',
    'packages/cloudflare/test/{contract,worker}.test.ts',
    'packages/sqlite/test/!(sqlite-store).test.ts',
    'tests/{interop,leaks}/test/*.test.ts',
  ],
  'command-line': ['packages/cli/test/**/*.test.ts'],
  examples: ['examples/test/!(fleet).test.ts', 'examples/vitest/*.test.ts'],
  // Each file keeps every processor busy by itself.
  reliability: [
    'examples/test/fleet.test.ts',
    'packages/core/test/service-auth.{deaths,outage}.test.ts',
    'packages/file/test/{fleet,interruptions,kills}.test.ts',
    'tests/chaos/test/*.test.ts',
    'tests/cold-starts/test/*.test.ts',
    'tests/protocol/test/*.test.ts',
    'tests/soak/test/*.test.ts',
  ],
  observability: ['tests/observability/test/*.test.ts'],
  site: ['docs/test/{browser,built-site}.test.ts'],
  frameworks: ['tests/interop/frameworks/test/*.test.ts'],
};

/** The projects of `pnpm test`. */
export const quick: string = '--project=quick*';

/** Runs a suite as a check of its own name. */
export function check(suite: Suite): string[] {
  return ['vitest', 'run', `--project=${suite}`];
}

/** The files that the projects of Vitest find, and the commands that run the projects. */
export interface Plan {
  /** All test files of the repository. */
  files: readonly string[];
  /** The files that each project of Vitest finds. */
  projects: ReadonlyMap<string, readonly string[]>;
  /** The command line of each check that CI runs. */
  commands: Readonly<Record<string, readonly string[]>>;
}

/** Says for each test file that does not run exactly once what is wrong, and for each project that no command runs. */
export function faultsOf({ files, projects, commands }: Plan): string[] {
  // Coverage runs files again, and so do the projects with older versions of dependencies.
  const runs = Object.entries(commands).filter(([, argv]) => !argv.includes('--coverage'));
  const ran = new Map(
    [...projects.keys()].map((project) => [
      project,
      runs.filter(([, argv]) => isRunBy(argv, project)).map(([name]) => name),
    ]),
  );
  const faults = [...ran]
    .filter(([, names]) => names.length !== 1)
    .map(([project, names]) => `the project "${project}" runs in ${list(names)}`);
  const empty = [...projects]
    .filter(([, found]) => found.length === 0)
    .map(([project]) => `the project "${project}" finds no file`);
  const firsts = [...projects].filter(([project]) => !project.startsWith('compat '));
  const wrong = files.flatMap((file) => {
    const found = firsts.filter(([, its]) => its.includes(file)).map(([project]) => `"${project}"`);
    return found.length === 1 ? [] : [`${file} is in ${list(found)}`];
  });
  return [...faults, ...empty, ...wrong];
}

function isRunBy(argv: readonly string[], project: string): boolean {
  const asked = argv.filter((argument) => argument.startsWith('--project=')).map((argument) => argument.slice(10));
  return asked.some((pattern) =>
    pattern.endsWith('*') ? project.startsWith(pattern.slice(0, -1)) : project === pattern,
  );
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(' and ');
}
