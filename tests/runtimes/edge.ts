import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import type { Control } from './control.ts';
import type { Place, Result } from './suite/cases.ts';

interface EdgeVm {
  readonly context: { runCases(place: Place): Promise<Result[]> };
  evaluate(script: string): unknown;
}

/** Runs the suite in the Edge Runtime of Vercel. `installed`: a file of its package. */
export function runInEdgeRuntime(installed: string, script: string, { url }: Control): Promise<Result[]> {
  const { EdgeVM } = createRequire(installed)('@edge-runtime/vm') as { EdgeVM: new () => EdgeVm };
  const vm = new EdgeVM();
  vm.evaluate(script);
  return vm.context.runCases({ control: url, print: (value) => inspect(value), tellsUnsent: true });
}
