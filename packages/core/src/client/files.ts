import { builtinModule } from '../platform/builtin-module.ts';
import { describeError } from '../platform/untrusted.ts';

/** The part of `node:fs` that is used here. */
interface NodeFiles {
  readFileSync(file: string, encoding: 'utf8'): string;
  readonly promises: { readFile(file: string, encoding: 'utf8'): Promise<string> };
}

function nodeFiles(): NodeFiles | undefined {
  return builtinModule('node:fs') as NodeFiles | undefined;
}

/**
 * Reads a file as it is now. Empty: this runtime has no files. Rejects with the error of Node, and
 * advice that names the file.
 */
export async function readLater(file: string): Promise<string> {
  const reading = nodeFiles()?.promises.readFile(file, 'utf8');
  const content = await reading?.catch((error: unknown) => {
    throw Object.assign(Object(error), { advice: `${file} cannot be read` });
  });
  return withoutLineEnd(content ?? '');
}

/** Reads a file at once. The words of a problem complete a sentence. */
export function contentOf(file: string): { readonly text?: string; readonly problem?: string } {
  const files = nodeFiles();
  if (!files) return { problem: 'needs a runtime with files: give the option in code' };
  try {
    return { text: withoutLineEnd(files.readFileSync(file, 'utf8')) };
  } catch (error) {
    return { problem: `names a file that cannot be read (${describeError(error)})` };
  }
}

/** Editors and `echo` end a file with a line end, which is no part of the secret. */
function withoutLineEnd(content: string): string {
  return content.replace(/\r?\n$/, '');
}
