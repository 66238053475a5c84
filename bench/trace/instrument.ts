// Lets the sources of core and of the axios adapter say which of their functions are called, in which order.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '@service-auth/test-tools/packages/packages';
import ts from 'typescript';

/** A function of the sources that was called. */
export interface Call {
  /** From the root: `packages/core/src/token/memory.ts`. */
  readonly file: string;
  /** Its file and the place at which it begins. */
  readonly place: string;
  /** The file that called it. Undefined: no other one of the sources did. */
  readonly by: string | undefined;
}

Error.stackTraceLimit = 50;

const traced = /^packages\/(core|axios)\/src\/.*\.ts$/;
const calls: Call[] = [];

/** Returns the calls that `job` causes, in order. */
export async function callsOf(job: () => Promise<unknown>): Promise<Call[]> {
  calls.length = 0;
  await job();
  return calls.splice(0);
}

Object.assign(globalThis, {
  tracedCall: (file: string, start: number) => calls.push({ file, place: `${file}:${start}`, by: callerOf(file) }),
});

/** Returns the file that called a function of `file`, through all functions of `file` itself. */
function callerOf(file: string): string | undefined {
  const { stack = '' } = new Error('only for its stack');
  const files = [...stack.matchAll(/packages\/(?:core|axios)\/src\/[\w/-]+\.ts/g)].map(([path]) => path);
  return files.find((other) => other !== file);
}

registerHooks({
  load(url, context, nextLoad) {
    const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : '';
    if (!traced.test(file)) return nextLoad(url, context);
    const source = instrumented(file, readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});

/** Returns the source with a report at the beginning of each function. Lines stay where they are. */
function instrumented(file: string, source: string): string {
  const insertions: { at: number; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const { body } = node;
      const report = `tracedCall(${JSON.stringify(file)}, ${node.getStart(parsed)})`;
      if (ts.isBlock(body)) insertions.push({ at: body.getStart(parsed) + 1, text: `${report};` });
      else insertions.push({ at: body.getStart(parsed), text: `(${report}, ` }, { at: body.getEnd(), text: ')' });
    }
    ts.forEachChild(node, visit);
  };
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.ESNext, true);
  visit(parsed);
  // From the end, so that the places before stay true. Of two at one place, the outer function comes first.
  let text = source;
  for (const { at, text: added } of insertions.toSorted((one, other) => other.at - one.at)) {
    text = text.slice(0, at) + added + text.slice(at);
  }
  return text;
}
