// Clients that others wrote, in six languages, share one token through two servers over one Redis.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { describe, expect, test } from 'vitest';
import { debianRunners, type Runner } from '../support/languages.ts';
import { startServing } from '../support/serving.ts';
import { redis, startCanaryService } from '../support/world.ts';

const folder = fileURLToPath(new URL('../../../../examples/any-language/', import.meta.url));
const examples = readdirSync(folder);
const page = readFileSync(new URL('../../../../docs/any-language.md', import.meta.url), 'utf8');

// The first run downloads about 60 MB and compiles the network packages of Go.
const slowly = { timeout: 600_000 };
const runners = await orSkip(debianRunners);
const node: Runner = { command: process.execPath, args: [], env: {} };

function runnerOf(example: string): Runner | undefined {
  const { python, go, ruby, php, shell } = runners ?? {};
  return { '.py': python, '.go': go, '.rb': ruby, '.php': php, '.sh': shell, '.mjs': node }[extname(example)];
}

test('the page has every example as it is', () => {
  for (const example of examples) {
    const [, ...lines] = readFileSync(folder + example, 'utf8')
      .replace(/^(#!.*|<\?php)\n/, '')
      .trimEnd()
      .split('\n');
    expect(page).toContain(lines.join('\n').trim());
  }
});

describe.runIf(redis && runners)('over one Redis', () => {
  test('eight clients in six languages start at once, and one token is issued', slowly, async () => {
    const service = await startCanaryService();
    const env = { SERVICE_AUTH_STORE: `${redis?.url}?prefix=any-language:` };
    const servers = [await startServing({ service, env }), await startServing({ service, env })];
    const { clientId, clientSecret } = service.credentials;
    expect(examples.length).toBe(8);
    const printed = await Promise.all(
      examples.map(async (example, index) => {
        const { command = '', args = [], env = {} } = runnerOf(example) ?? {};
        const variables = {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          TOKEN_URL: `${servers[index % 2]?.url}/oauth/token`,
          API_URL: `${service.baseUrl}/api/v1/`,
          CLIENT_ID: clientId,
          CLIENT_SECRET: clientSecret,
          OAUTHLIB_INSECURE_TRANSPORT: '1',
          ...env,
        };
        const { stdout } = await promisify(execFile)(command, [...args, example], { cwd: folder, env: variables });
        return [example, JSON.parse(stdout)] as const;
      }),
    );
    const [[, { tokenId }] = ['', {}]] = printed;
    for (const [example, answer] of printed)
      expect([example, answer]).toMatchObject([example, { bearer: 'valid', tokenId }]);
    expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1, apiRequests: 8 });
  });
});
