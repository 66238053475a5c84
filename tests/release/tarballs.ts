import { readFile } from 'node:fs/promises';
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import type { Entry } from '../support/tools/packages/packages.ts';
import { type Published, readFromTarball } from './publish.ts';

/** Returns what publint, Are The Types Wrong and we find wrong with packages as they are published. */
export async function judgeTarballs(published: readonly Published[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { manifest, tarball } of published) {
    const found = [
      ...wrongVersions(manifest.version, readFromTarball(tarball, 'README.md')),
      ...(await wrongEntries(await readFile(tarball), manifest.exports)),
    ];
    problems.push(...found.map((problem) => `${manifest.name} as it is packed: ${problem}`));
  }
  return problems;
}

async function wrongEntries(data: Buffer, exports: Published['manifest']['exports']): Promise<string[]> {
  const tarball = new Uint8Array(data);
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
  const problems = messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
  const entries = Object.values(exports).filter((entry): entry is Entry => typeof entry !== 'string');
  // A program has no types.
  if (entries.length === 0) return problems;
  const types = await checkPackage(createPackageFromTarballData(tarball));
  if (!types.types) return [...problems, 'it has no types'];
  // Who cannot require a package needs no types for that.
  const isEsmOnly = !entries.some(({ require }) => require);
  const matters = (problem: Problem) =>
    !(isEsmOnly && 'resolutionKind' in problem && ['node10', 'node16-cjs'].includes(problem.resolutionKind));
  return [...problems, ...types.problems.filter(matters).map((problem) => JSON.stringify(problem))];
}

/** The lines that name another version of our packages than the one that is published. */
export function wrongVersions(version: string, readme: string): string[] {
  const named = /(?:@service-auth\/[\w-]+@[\^~]?|Service Auth )(\d+(?:\.\d+)*)/g;
  return readme.split('\n').filter((line) => [...line.matchAll(named)].some(([, name]) => name !== version));
}
