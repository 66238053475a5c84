// Gives all packages their next version, as the changesets say, for the pull request "chore: next versions". The first version that is no candidate also
// takes out what the documents say only until then, from `<!-- until the first release -->` to `<!-- then -->`.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPackages, root } from '../tests/support/tools/packages/packages.ts';
import { readDocuments } from './documents.ts';

execFileSync('changeset', ['version'], { cwd: root, stdio: 'inherit' });
const isCandidate = readPackages().some(({ manifest }) => manifest.version.includes('-'));
for (const { path } of isCandidate ? [] : readDocuments()) {
  const file = join(root, path);
  const text = readFileSync(file, 'utf8');
  const left = text.replace(/<!-- until the first release -->[\s\S]*?<!-- then -->\n*/g, '');
  if (left !== text) writeFileSync(file, left);
}
