import { run } from '@service-auth/test-tools/servers/tools';
import { folder } from './application.ts';

/** Installs the frameworks, once for all test files. They have a lockfile of their own, so that nobody else installs them. */
export async function setup(): Promise<void> {
  await run('pnpm', ['install', '--frozen-lockfile', '--dir', folder]);
}
