import { execFileSync } from 'node:child_process';
import { core, handwrittenModule, importsToCompare } from '../contenders/imports.ts';
import { rowOf } from '../contenders/peers.ts';
import { type Answer, atMost, numberText, type Scope, spreadText } from '../harness/answer.ts';
import { bundleBytes, type Import, type Installation, installationOf } from '../harness/footprint.ts';
import { type Rounds, ratioOf, spreadOf } from '../harness/statistics.ts';

const nothing = 'an empty program';
const nothingAgain = 'an empty program, again';
/** Libraries that get tokens by themselves; the others attach what they are given. */
const oauth = new Set([
  'oauth4webapi',
  'openid-client',
  '@badgateway/oauth2-client',
  'simple-oauth2',
  'google-auth-library',
  '@azure/msal-node',
  '@azure/identity',
  'auth0',
]);

interface Starts {
  /** Microseconds of processor time of a process that imports it and, uncounted, its host. */
  readonly whole: Rounds;
  /** The part of it that `import()` took. */
  readonly imports: Rounds;
}

/** The cost of an installation: at every start of a program, in `node_modules`, in a bundle. */
export default async function startUp({ quick }: Scope): Promise<Answer> {
  const imports = importsToCompare(!quick);
  const starts = measureStarts(imports, quick ? 5 : 15);
  const bundles = new Map<string, number>();
  const installations = new Map<string, Installation>();
  for (const item of imports) {
    bundles.set(item.name, await bundleBytes(item));
    installations.set(item.name, installationOf(item));
  }

  const start = (name: string) => ratioOf([starts.whole], name, nothing);
  const importing = (name: string, base = handwrittenModule) => ratioOf([starts.imports], name, base);
  const kilobytes = (bytes: number) => bytes / 1_024;
  const shown = imports.toSorted(
    (a, b) =>
      Number(a.kind === 'peer') - Number(b.kind === 'peer') || importing(a.name).median - importing(b.name).median,
  );
  const rows = shown.map(({ name }) => {
    const { packages, bytes } = installations.get(name) ?? { packages: 0, bytes: 0 };
    return rowOf(name, [
      spreadText(importing(name)),
      spreadText(start(name)),
      packages === 0 ? '–' : `${packages}`,
      packages === 0 ? '–' : numberText(kilobytes(bytes), 0),
      numberText(kilobytes(bundles.get(name) ?? 0), 1),
    ]);
  });
  const bundle = (name: string) => spreadOf([kilobytes(bundles.get(name) ?? Number.NaN)]);
  const oauthGoals = shown
    .filter(({ name }) => oauth.has(name))
    .slice(0, 1)
    .map(({ name }) => atMost(`import of core, of the fastest OAuth library (${name}) = 1`, 1, importing(core, name)));
  const empty = [nothing, nothingAgain].map((name) => rowOf(name, ['–', spreadText(start(name)), '–', '–', '–']));
  return {
    tables: [
      {
        title: 'to import it',
        columns: [
          'import(), handwritten = 1',
          'start of a program, empty = 1',
          'packages',
          'kB installed',
          'kB bundled (min+gzip)',
        ],
        rows: [...empty, ...rows],
      },
    ],
    chart: {
      title: 'kB in a bundle (minified and gzipped)',
      logarithmic: true,
      bars: shown.map(({ name, kind }) => {
        const value = bundle(name);
        return { name, kind, value, label: numberText(value.median, 1) };
      }),
    },
    goals: [
      atMost('import of core, of a handwritten fetch and cache = 1', 2, importing(core)),
      ...oauthGoals,
      atMost('core in a bundle, minified and gzipped: kB', 7, bundle(core), 1),
    ],
  };
}

/** In turns. Processor time, for other processes disturb it least. */
function measureStarts(imports: readonly Import[], rounds: number): Starts {
  const programs = [
    { name: nothing, program: programOf('', ''), folder: process.cwd() },
    { name: nothingAgain, program: programOf('', ''), folder: process.cwd() },
    ...imports.map(({ name, host, specifier, folder }) => {
      const program = programOf(host ? `await import('${host}');` : '', `await import('${specifier}');`);
      return { name, program, folder };
    }),
  ];
  const empty = (): Record<string, number[]> => Object.fromEntries(programs.map(({ name }) => [name, []]));
  const [whole, importing] = [empty(), empty()];
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, program, folder } of programs) {
      const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
        cwd: folder,
        encoding: 'utf8',
      });
      const [start = 0, hosted = 0, end = 0] = JSON.parse(printed) as number[];
      if (round === 0) continue;
      importing[name]?.push(end - hosted);
      whole[name]?.push(start + end - hosted);
    }
  }
  return { whole, imports: importing };
}

function programOf(loadHost: string, load: string): string {
  return `
    const used = () => { const { user, system } = process.cpuUsage(); return user + system; };
    const spent = [used()];
    ${loadHost}
    spent.push(used());
    ${load}
    spent.push(used());
    console.log(JSON.stringify(spent));`;
}
