// Bundles application.js with the bundler that it is told, everything into one file.
import { join } from 'node:path';

const home = import.meta.dirname;
const entry = join(home, 'application.js');
const [bundler] = process.argv.slice(2);

/** webpack and Rspack take the same options. */
function pack(compiler, filename) {
  const options = {
    context: home,
    entry,
    target: 'node',
    mode: 'production',
    devtool: false,
    experiments: { outputModule: true },
    output: { path: join(home, 'out'), filename, module: true, library: { type: 'module' }, chunkFormat: 'module' },
  };
  return new Promise((resolve, reject) => {
    compiler(options, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString()));
      else if (stats.hasWarnings()) reject(new Error(stats.toString()));
      else resolve();
    });
  });
}

const bundlers = {
  async esbuild() {
    const { build } = await import('esbuild');
    await build({
      entryPoints: [entry],
      outfile: join(home, 'out/esbuild.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
    });
  },
  webpack: async () => pack((await import('webpack')).default, 'webpack.mjs'),
  rspack: async () => pack((await import('@rspack/core')).rspack, 'rspack.mjs'),
  async vite() {
    const { build } = await import('vite');
    await build({
      root: home,
      configFile: false,
      ssr: { noExternal: true, target: 'node' },
      build: {
        ssr: entry,
        outDir: 'out',
        emptyOutDir: false,
        rollupOptions: { output: { entryFileNames: 'vite.mjs' } },
      },
    });
  },
};
await bundlers[bundler]();
