// Finds comments that begin with a question word or a preposition. They have no subject: `pnpm check comments`
import { globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './packages.ts';

const fragment = /^\s*(?:\/\/|\/\*\*) (?:What|Who|Whose|How|Of|By|Which|Whether|Whatever|Whoever) /;

const findings = globSync('{bench,examples,packages,scripts,tests}/**/*.{ts,mjs}', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|coverage)$/.test(path),
}).flatMap((file) =>
  readFileSync(`${root}/${file}`, 'utf8')
    .split('\n')
    .flatMap((line, index) => (fragment.test(line) ? [`${relative('.', file)}:${index + 1} ${line.trim()}`] : [])),
);

for (const finding of findings) console.error(finding);
if (findings.length > 0) {
  console.error(
    '\nBegin a comment with its subject or its verb: "The …", "Returns …", "True if …". A reader who knows only this line understands it.',
  );
  process.exitCode = 1;
}
