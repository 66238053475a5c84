// Prints the files that a cold `getToken()` runs through, in order, and those that a 401 in axios adds.
// `--write` puts the list into docs/how-it-works.md, and `--check` fails if another one is there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '@service-auth/test-tools/packages/packages';
import { type Call, callsOf } from './trace/instrument.ts';

// The environment decides what runs: a proxy, say, or that others seem to share the count.
for (const name of Object.keys(process.env)) delete process.env[name];
const { createServiceAuth } = await import('@service-auth/core');
const { attachServiceAuth } = await import('@service-auth/axios');
const { startTestService } = await import('@service-auth/testing');
const { default: axios } = await import('axios');

const page = join(root, 'docs/how-it-works.md');
const [begin, end] = ['<!-- `pnpm trace --write` writes this: -->', '<!-- the end -->'];

const service = await startTestService();
const auth = createServiceAuth(service.options);
const cold = await callsOf(() => auth.getToken());
const instance = axios.create({ baseURL: service.baseUrl });
attachServiceAuth(instance, auth);
service.revoke('all');
const rejection = await callsOf(() => instance.get('/api/v1/'));
await auth.close();
await service.close();

const { values } = parseArgs({ options: { write: { type: 'boolean' }, check: { type: 'boolean' } } });
const files = filesOf(cold);
const more = filesOf(rejection).filter((file) => !files.includes(file));
const enough = files.filter((file) => branches(cold, file));
const text = readFileSync(page, 'utf8');
const [before = '', rest = ''] = text.split(begin);
const written = `${before}${begin}\n\n${list()}\n\n${end}${rest.split(end)[1]}`;
if (values.write) writeFileSync(page, written);
else if (values.check) {
  if (text !== written) throw new Error('docs/how-it-works.md lists other files. Run `pnpm trace --write`.');
} else {
  const functions = (calls: readonly Call[]) => new Set(calls.map(({ place }) => place)).size;
  console.log(`A cold getToken(): ${functions(cold)} functions in ${files.length} files.`);
  for (const file of files) console.log(`${enough.includes(file) ? '*' : ' '} ${file}`);
  console.log(`\n* These ${enough.length} suffice to follow it.\n`);
  console.log(`A 401 in axios: ${functions(rejection)} functions, in ${more.length} more files.`);
  for (const file of more) console.log(`  ${file}`);
}

function filesOf(calls: readonly Call[]): string[] {
  return [...new Set(calls.map(({ file }) => file))];
}

/** Returns whether a file calls several others. The names of the rest say enough of what they do. */
function branches(calls: readonly Call[], file: string): boolean {
  const isPlatform = (path: string) => path.includes('/platform/');
  const called = calls.filter(({ by, file: path }) => by === file && !isPlatform(path));
  return !isPlatform(file) && filesOf(called).length > 1;
}

function list(): string {
  const names = (paths: readonly string[]) =>
    paths.map((path) => `\`${path.replace('packages/core/src/', '').replace('packages/', '').replace('/src/', '/')}\``);
  return [
    `A call without a token anywhere runs through ${files.length} files of core. To follow it, read these ${enough.length}, in the order in which the call first enters them: ${names(enough).join(', ')}. The others help these, and call no other file, or one, outside of \`platform/\`: \`token/memory.ts\`, \`ledger/present.ts\` and \`ledger/settle.ts\` decide alone.`,
    `A 401 in axios runs through ${more.length} more: ${names(more).join(', ')}.`,
  ].join('\n\n');
}
