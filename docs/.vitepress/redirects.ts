import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The former addresses of pages that were merged into others, and where their readers go now. */
export const redirects: Readonly<Record<string, string>> = {
  chaos: 'reliability#how-was-it-tried',
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
