import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { byDay } from '@service-auth/test-tools/night';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createApplication, startOrders, startProgram } from '../application.ts';

let home: string;

beforeAll(async () => {
  home = await createApplication(new URL('../apps/bundled/', import.meta.url));
});

// By day webpack: the packed Nest application is bundled by esbuild, and Vite bundles that of SvelteKit.
test.each(byDay(['esbuild', 'webpack', 'rspack', 'vite'], (bundler) => bundler === 'webpack'))(
  '%s bundles core and the fetch adapter into one file, which needs one token',
  async (bundler) => {
    await using build = startProgram(home, ['../generated/bundled/build.js', bundler]);
    expect(await build.ended, build.output).toBe(0);
    const bundle = readFileSync(join(home, `out/${bundler}.mjs`), 'utf8');
    // Messages of core name the packages of the stores.
    expect(bundle).not.toMatch(/(from|import|require\() ?["']@service-auth\/(core|fetch)/);

    const service = await startOrders();
    onTestFinished(() => service.close());
    await using program = startProgram(home, [`../generated/bundled/out/${bundler}.mjs`], service.env);
    expect(await program.ended, program.output).toBe(0);
    expect(program.output).toContain('200,200,200');
    expect(service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
  },
);
