// Compares the size of each entry of each package with its limit: minified and gzipped, without the packages that it imports. Builds first what is not built.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { codeEntries, type Entry, readPackages, root } from '../tests/support/tools/packages/packages.ts';

/** In kB, little above what they have. Raised by whoever has a reason that is worth it to all users; `testing` is in nobody's bundle. */
const limits: Readonly<Record<string, number>> = {
  core: 46.5,
  'core/http': 3.7,
  'core/oauth2': 6.1,
  'core/store': 2.3,
  // The codec of the record once more, for tools only.
  'core/record': Number.POSITIVE_INFINITY,
  'core/sql': 1,
  axios: 4.2,
  cloudflare: 1.7,
  dynamodb: 2.5,
  fetch: 1.9,
  file: 3.8,
  got: 1.7,
  mysql: 2.3,
  nestjs: 4.1,
  'nestjs/axios': 1.5,
  'nestjs/terminus': 1.2,
  opentelemetry: 3,
  postgres: 2.1,
  sqlite: 2.8,
  redis: 2.6,
  testing: Number.POSITIVE_INFINITY,
  undici: 2.3,
};

execFileSync('turbo', ['run', 'build', '--output-logs=errors-only'], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});
for (const { name: folderName, folder, manifest } of readPackages()) {
  for (const [path, entry] of codeEntries(manifest)) await check(`${folderName}${path.slice(1)}`, folder, entry);
}

async function check(name: string, folder: string, entry: Entry): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, entry.import?.default ?? entry.default ?? '')],
    bundle: true,
    packages: 'external',
    platform: 'neutral',
    minify: true,
    write: false,
  });
  const kilobytes = outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0) / 1024;
  const limit = limits[name];
  console.log(`${name.padEnd(16)} ${kilobytes.toFixed(1).padStart(5)} kB`);
  if (limit === undefined) console.log(`${name} has no limit: give it one in scripts/check-size.ts.`);
  else if (kilobytes > limit) console.log(`${name} exceeds its limit of ${limit} kB.`);
  else return;
  process.exitCode = 1;
}
