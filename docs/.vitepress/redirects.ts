import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The former addresses of pages that were merged into others, and where their readers go now. */
export const redirects: Readonly<Record<string, string>> = {
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

/** Writes a page at each former address that sends its reader on. */
export function writeRedirects(folder: string, base: string): void {
  for (const [from, to] of Object.entries(redirects)) {
    const file = join(folder, `${from}.html`);
    mkdirSync(dirname(file), { recursive: true });
    const address = base + to;
    writeFileSync(
      file,
      `<!doctype html><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url=${address}"><link rel="canonical" href="${address}"><a href="${address}">This page has moved.</a>\n`,
    );
  }
}
