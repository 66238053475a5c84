import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../support/tools/packages/packages.ts';

/** A small change of a source. */
export interface Mutant {
  /** Relative to the repository. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly mutator: string;
  /** The part of the text that is replaced. */
  readonly from: number;
  readonly to: number;
  readonly replacement: string;
}

/** A place in a text, from 0. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** The part of Stryker's instrumenter that this script uses. It is installed only when the script runs. */
interface Instrumenter {
  instrument(
    files: readonly { name: string; mutate: true; content: string }[],
    options: object,
  ): Promise<{
    readonly mutants: readonly {
      readonly fileName: string;
      readonly location: { readonly start: Place; readonly end: Place };
      readonly mutatorName: string;
      readonly replacement: string;
    }[];
  }>;
}

/** What Stryker would change in these files of the repository. */
export async function mutantsOf(files: readonly string[]): Promise<Mutant[]> {
  const tools = createRequire(join(root, 'tests/mutation/tools/package.json'));
  const module = (await import(tools.resolve('@stryker-mutator/instrumenter'))) as {
    readonly Instrumenter: new (logger: object) => Instrumenter;
  };
  const instrumenter = new module.Instrumenter({ debug() {}, info() {}, isDebugEnabled: () => false });
  const sources = files.map((name) => ({
    name,
    mutate: true as const,
    content: readFileSync(join(root, name), 'utf8'),
  }));
  const { mutants } = await instrumenter.instrument(sources, { plugins: null, excludedMutations: [], ignorers: [] });
  const contents = new Map(sources.map(({ name, content }) => [name, content]));
  return mutants.map(({ fileName, location: { start, end }, mutatorName, replacement }) => {
    const lines = (contents.get(fileName) ?? '').split('\n');
    const offset = ({ line, column }: Place) => lines.slice(0, line).join('\n').length + (line > 0 ? 1 : 0) + column;
    return {
      file: fileName,
      line: start.line + 1,
      column: start.column + 1,
      mutator: mutatorName,
      from: offset(start),
      to: offset(end),
      replacement,
    };
  });
}

export function mutated(text: string, { from, to, replacement }: Mutant): string {
  return text.slice(0, from) + replacement + text.slice(to);
}
