// What each built package adds to a bundle, minified and gzipped, without what it imports: no more than its limit.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { readPackages } from './packages.ts';

/** In kB, little above what they have. Raised by whoever has a reason that is worth it to all users; `testing` is in nobody's bundle. */
const limits: Readonly<Record<string, number>> = {
  core: 15,
  axios: 3.3,
  fetch: 1.6,
  file: 2.9,
  got: 1,
  nestjs: 3.2,
  postgres: 1.2,
  redis: 1.4,
  undici: 1.4,
};

for (const { name, folder } of readPackages()) {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'dist/index.js')],
    bundle: true,
    packages: 'external',
    platform: 'neutral',
    minify: true,
    write: false,
  });
  const kilobytes = outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0) / 1024;
  const limit = limits[name] ?? Number.POSITIVE_INFINITY;
  console.log(`${name.padEnd(14)} ${kilobytes.toFixed(1).padStart(5)} kB`);
  if (kilobytes <= limit) continue;
  console.log(`${name} exceeds its limit of ${limit} kB.`);
  process.exitCode = 1;
}
