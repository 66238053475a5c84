// What each built package adds to a bundle, minified and gzipped, without what it imports.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { readPackages } from './packages.ts';

const coreKilobytes = { aim: 7, limit: 15 };

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
  console.log(`${name.padEnd(14)} ${kilobytes.toFixed(1).padStart(5)} kB`);
  if (name !== 'core' || kilobytes <= coreKilobytes.aim) continue;
  console.log(
    `warning: core has ${kilobytes.toFixed(1)} kB; the aim is ${coreKilobytes.aim}, the limit ${coreKilobytes.limit}.`,
  );
  if (kilobytes > coreKilobytes.limit) process.exitCode = 1;
}
