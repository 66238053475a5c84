import { join } from 'node:path';
import { byDay } from '@service-auth/test-tools/night';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { bundleContract, nestVersions, runContract } from '../consumer.ts';

const nodes = inject('nodes');
/** The clients that do not run on a Node, according to their own `engines`. */
const missingOn: Readonly<Record<number, readonly string[]>> = {
  20: [
    'got 15',
    'got 16',
    'the fetch of undici 8',
    'undici 8.0',
    'undici 8.12',
    'undici 8.12, listed after redirect()',
  ],
};

describe.each([
  { clients: 'every HTTP client', program: 'on-this-node.ts', folder: 'all' },
  ...Object.keys(nestVersions).map((version) => {
    const clients = `the HttpService of Nest ${version}`;
    return { clients, program: 'nestjs-on-this-node.ts', folder: `nest-${version}` };
  }),
])('the contract of HTTP clients with $clients', ({ program, folder }) => {
  const consumer = join(inject('consumers'), folder);
  beforeAll(() => bundleContract(program, consumer));

  // By day each Nest as most have it: the older one on the older Node.
  const tried = byDay(nodes, ({ major }) => folder === 'all' || (folder === 'nest-10') === (major === 20));

  test.each(tried)('passes on Node $major', { timeout: 900_000 }, async (node) => {
    const { passed, problems, missing } = await runContract(consumer, node);
    expect(problems).toEqual([]);
    expect(passed).toBeGreaterThan(50);
    if (missing) expect(missing).toEqual(missingOn[node.major] ?? []);
  });
});
