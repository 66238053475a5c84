// Two installed releases of the packages beside each other, over one store. Each command is a
// process of one of them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { run as execute } from '@service-auth/test-tools/servers/tools';
import { startTestService } from '@service-auth/testing';

type Environment = Readonly<Record<string, string>>;

/** A release: the folder in which `@service-auth/cli` and the drivers of the stores are installed. */
export interface Release {
  readonly folder: string;
  readonly env?: Environment;
}

/** The store of a fleet, as the command line names it, and what its drivers want to know. */
export interface SharedStore {
  readonly address: string;
  readonly env?: Environment;
}

/**
 * Deploys `after` where `before` runs, and takes it back, while processes of the other one go on.
 * That costs no token, and both say the same of what was spent. Returns the records that they left.
 * @throws AssertionError if a process gets another token, a token too many is issued, or somebody
 * counts otherwise
 */
export async function rollOut(
  before: Release,
  after: Release,
  store: SharedStore,
): Promise<{ before: string; after: string }> {
  await using service = await startTestService();
  const { authUrl, baseUrl, audience, clientId, clientSecret } = service.options;
  const run = async ({ folder, env = {} }: Release, ...argv: string[]) => {
    const program = join(folder, 'node_modules/@service-auth/cli/dist/service-auth.js');
    const printed = await execute(process.execPath, [program, ...argv], {
      cwd: folder,
      timeout: 60_000,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        SERVICE_AUTH_URL: String(authUrl),
        SERVICE_BASE_URL: String(baseUrl),
        SERVICE_AUTH_AUDIENCE: audience ?? '',
        SERVICE_AUTH_CLIENT_ID: clientId,
        SERVICE_AUTH_CLIENT_SECRET: String(clientSecret),
        SERVICE_AUTH_STORE: store.address,
        ...store.env,
        ...env,
      },
    });
    return printed.trim();
  };
  const tokenOf = (release: Release) => run(release, 'token');
  const spend = async (release: Release) => {
    await run(release, 'reset', '--audience', audience ?? '', '--yes');
    return tokenOf(release);
  };
  const agree = async (token: string, spent: number) => {
    for (const release of [before, after]) {
      assert.equal(await tokenOf(release), token);
      const { used, tokens } = JSON.parse(await run(release, 'usage', '--json')) as { used: number; tokens: object[] };
      assert.deepEqual([used, tokens.length], [spent, 1]);
    }
    assert.equal(service.counts.issued, spent);
  };
  const record = (release: Release) => run(release, 'record', 'export');

  await agree(await tokenOf(before), 1);
  await agree(await spend(after), 2);
  const records = { before: '', after: await record(after) };
  await agree(await spend(before), 3);
  records.before = await record(before);
  return records;
}
