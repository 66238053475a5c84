// Core and the fetch adapter, packed as they are published, in applications of Next.js 14, 15 and 16. `pnpm check next`
import { installVersions } from '../tests/nextjs/versions.ts';
import { visit } from '../tests/nextjs/visit.ts';
import { packAll } from './pack.ts';
import { readPackages } from './packages.ts';

installVersions();
const tarballs = packAll(readPackages().filter(({ name }) => ['core', 'fetch'].includes(name)));
const applications = [
  { major: 14, name: 'classic' },
  { major: 15, name: 'classic' },
  { major: 16, name: 'classic' },
  { major: 16, name: 'cache-components' },
] as const;

// One of the names in the output, such as `16`, for a version alone.
const [only = ''] = process.argv.slice(2);
for (const application of applications.filter(({ major }) => `${major}`.startsWith(only))) {
  const startedAt = performance.now();
  const problem = await visit(application, tarballs).then(
    () => undefined,
    (error: Error) => error.message,
  );
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`Next.js ${application.major}, ${application.name}: ${problem ?? 'passed'}, ${seconds} s`);
  if (problem !== undefined) process.exitCode = 1;
}
