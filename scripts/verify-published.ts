// Installs what npm gives out for the versions of this commit into an empty folder, and verifies its signatures and its provenance. Asks again for
// some minutes, because a new version takes a while to be everywhere.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readPackages } from '../tests/support/tools/packages/packages.ts';

const attempts = 10;
const pauseMs = 30_000;
const folder = mkdtempSync(join(tmpdir(), 'service-auth-published-'));
const wanted = readPackages().map(({ manifest }) => `${manifest.name}@${manifest.version}`);
const npm = (...argv: string[]) => execFileSync('npm', argv, { cwd: folder, encoding: 'utf8' });

try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  for (let attempt = 1; ; attempt++) {
    try {
      npm('install', '--prefer-online', '--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps', ...wanted);
      break;
    } catch (error) {
      if (attempt === attempts) throw error;
      await setTimeout(pauseMs);
    }
  }
  // It fails for a signature or an attestation that is wrong, but not for an attestation that is missing.
  npm('audit', 'signatures');
  const unproven = wanted.filter((id) => npm('view', id, 'dist.attestations.url').trim() === '');
  for (const id of unproven) console.error(`${id} has no provenance.`);
  if (unproven.length > 0) process.exitCode = 1;
  else console.log(`${wanted.length} packages have valid signatures and provenance.`);
} finally {
  rmSync(folder, { recursive: true });
}
