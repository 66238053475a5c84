import { isNight } from '@service-auth/test-tools/night';
import { run } from '@service-auth/test-tools/servers/tools';
import { folder } from './application.ts';

/** Installs the frameworks, once for all test files. They have a lockfile of their own, so that nobody else installs them. By day it leaves out older versions of Next.js. */
export async function setup(): Promise<void> {
  const filter = isNight ? [] : ['--filter=@service-auth/frameworks'];
  await run('pnpm', ['install', '--frozen-lockfile', '--dir', folder, ...filter]);
}
