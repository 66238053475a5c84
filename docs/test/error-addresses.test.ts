import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { expect, test } from 'vitest';
import { errorPage } from '../../packages/core/src/contract/error-page.ts';
import { errorPageOf } from '../../tests/support/tools/packages/error-page.ts';
import { redirectsOfErrors, writeRedirects } from '../.vitepress/redirects.ts';

const repository = { url: 'git+https://github.com/somebody/something.git' };
const changelog = '# @service-auth/core\n\n## 0.2.0\n\n### Minor Changes\n\n## 0.1.0\n\n### Minor Changes\n';

test('an error links to the page that its own version has in the repository', () => {
  const page = 'https://github.com/somebody/something/blob/@service-auth/core@0.1.0/docs/errors.md';
  expect(errorPageOf('0.1.0', { repository })).toBe(page);
});

test('the errors of the sources link to the newest page', () => {
  expect(errorPageOf('0.0.0')).toBe(errorPage);
});

test('if the project names its site, an error links to an address there that leads to its part of the page', () => {
  const homepage = 'https://example.com/service-auth/';
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-redirects-'));
  writeRedirects(folder, '/service-auth/', redirectsOfErrors(changelog));
  for (const version of ['0.1.0', '0.2.0']) {
    const { pathname } = new URL(errorPageOf(version, { repository, homepage }));
    const html = readFileSync(join(folder, `${pathname.slice('/service-auth/'.length)}.html`), 'utf8');
    const [, script = ''] = /<script>(.*)<\/script>/.exec(html) ?? [];
    const visited: string[] = [];
    const location = { hash: '#err_store', replace: (address: string) => visited.push(address) };
    new Function('location', script)(location);
    expect(visited).toEqual(['/service-auth/errors#err_store']);
  }
});
