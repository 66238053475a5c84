import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { requirePeer } from '../src/peer.ts';

test('a peer that is not installed is named, with the command that installs it', () => {
  const missing = () => requirePeer('@service-auth/not-installed', 'ServiceAuthHttpModule');
  expect(missing).toThrow(
    expect.objectContaining({
      message:
        '[service-auth/nestjs] ServiceAuthHttpModule needs @service-auth/not-installed: npm install @service-auth/not-installed',
      cause: expect.objectContaining({ code: 'MODULE_NOT_FOUND' }),
    }),
  );
});

test('a peer that fails by itself fails with its own words', () => {
  expect(() => requirePeer(new URL('support/broken-peer.cjs', import.meta.url).pathname, 'a test')).toThrow(
    'broken peer',
  );
});

test('an ES module, which has no __filename, loads a peer', () => {
  // Vitest gives its modules a __filename.
  const program = `import { requirePeer } from ${JSON.stringify(new URL('../src/peer.ts', import.meta.url))};
    console.log(requirePeer('node:path', 'a test').sep);`;
  expect(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })).toBe('/\n');
});
