import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorPathOf } from '../../tests/support/tools/packages/error-page.ts';
import { root } from './repository.ts';

/** The former addresses of pages that were merged into others, and where their readers go now. */
const moved: Readonly<Record<string, string>> = {
  chaos: 'reliability#how-was-it-tried',
  'decisions/0003-a-token-per-sealing-key': 'decisions/0003-what-the-secret-encrypts',
  'decisions/0005-checksum-not-signature': 'decisions/0003-what-the-secret-encrypts',
  'decisions/0008-sizes': 'decisions/0008-sizes-and-speed',
  'decisions/0011-deadlines-of-postgres': 'decisions/0011-deadlines-of-stores',
  'decisions/0012-clock-of-a-directory': 'decisions/0013-clocks-of-stores',
  'decisions/0013-a-store-clock-that-was-ahead': 'decisions/0013-clocks-of-stores',
  'decisions/0015-undici-answers': 'decisions/0010-one-place-for-the-rules-of-adapters',
  'decisions/0016-pauses-probes-and-deaths': 'decisions/0041-five-rules-of-pace',
  'decisions/0017-next-js-is-seen-through': 'frameworks#nextjs',
  'decisions/0018-a-client-is-an-object-that-is-small': 'decisions/0008-sizes-and-speed',
  'decisions/0020-one-attachment-per-axios-instance': 'decisions/0010-one-place-for-the-rules-of-adapters',
  'decisions/0023-what-an-adapter-costs': 'decisions/0008-sizes-and-speed',
  'decisions/0025-one-memory-per-process': 'decisions/0027-shared-in-a-process',
  'decisions/0027-written-together': 'decisions/0027-shared-in-a-process',
  'decisions/0030-a-clock-of-whole-seconds': 'decisions/0013-clocks-of-stores',
  'decisions/0031-a-durable-object-without-rpc': 'packages/cloudflare#questions',
  'decisions/0032-one-audience-does-not-hold-up-the-others': 'decisions/0041-five-rules-of-pace',
  'decisions/0033-deadlines-of-a-store': 'decisions/0011-deadlines-of-stores',
  'decisions/0038-requests-that-count': 'decisions/0038-what-providers-count',
  'decisions/0037-a-journal-of-attempts': 'decisions/0042-a-list-counts-and-numbers-pace',
  'decisions/0038-what-operators-count': 'decisions/0038-what-providers-count',
  'decisions/0039-the-operators-figures-are-advice': 'decisions/0038-what-providers-count',
  'evidence/mutants': 'reliability#how-was-it-tried',
  'evidence/simulation': 'reliability#figures',
  kubernetes: 'production#on-kubernetes',
  'mutation-testing': 'reliability#how-was-it-tried',
  pipelines: 'any-language#ci',
  recipes: 'http-clients#recipes',
  runtimes: 'http-clients#runtimes',
  'start/another-language': 'any-language#a-program',
  'start/axios': 'packages/axios',
  'start/fetch': 'packages/fetch',
  'start/got': 'packages/got',
  'start/lambda': 'serverless#aws-lambda',
  'start/nestjs': 'packages/nestjs',
  'start/next': 'frameworks#nextjs',
  'start/on-call': 'runbook',
  'start/own-stack': 'packages/core',
  'start/undici': 'packages/undici',
  'start/workers': 'packages/cloudflare',
  'the-problem': 'comparison#why-isnt-a-shared-cache-enough',
};

/** The addresses in the messages of each version that a changelog lists. The codes of errors stay, so the newest page knows those of every version. */
export function redirectsOfErrors(changelog: string): Record<string, string> {
  const versions = [...changelog.matchAll(/^## (\d\S*)$/gm)].map(([, version = '']) => version);
  return Object.fromEntries(versions.map((version) => [errorPathOf(version), 'errors']));
}

const changelog = join(root, 'packages/core/CHANGELOG.md');

/** All addresses that lead to a page of another address. */
export const redirects: Readonly<Record<string, string>> = {
  ...moved,
  ...redirectsOfErrors(existsSync(changelog) ? readFileSync(changelog, 'utf8') : ''),
};

/** Writes a page at each of these addresses that sends its reader on, to the same part if the target names none. */
export function writeRedirects(folder: string, base: string, from: Readonly<Record<string, string>> = redirects): void {
  for (const [path, to] of Object.entries(from)) {
    const file = join(folder, `${path}.html`);
    mkdirSync(dirname(file), { recursive: true });
    const address = base + to;
    const part = to.includes('#') ? '' : `<script>location.replace('${address}' + location.hash)</script>`;
    writeFileSync(
      file,
      `<!doctype html><meta charset="utf-8"><title>Moved</title>${part}<meta http-equiv="refresh" content="0; url=${address}"><link rel="canonical" href="${address}"><a href="${address}">This page has moved.</a>\n`,
    );
  }
}
