import { builtinModule } from './builtin-module.ts';
import { ownProperty } from './untrusted.ts';

// A variable that platforms set where they run several processes of a program, or end and start them as they need.
const names = [
  'KUBERNETES_SERVICE_HOST',
  'AWS_LAMBDA_FUNCTION_NAME',
  'FUNCTIONS_WORKER_RUNTIME', // Azure Functions
  'K_SERVICE', // Cloud Run
  'VERCEL',
  'NODE_APP_INSTANCE', // pm2
  'NODE_UNIQUE_ID', // the workers of node:cluster
];

interface Globals {
  readonly process?: { readonly env?: Record<string, string | undefined> };
  readonly Deno?: unknown;
}

/** Returns the warning of a store in the memory of a process that is in production and probably not alone. */
export function warningsOfMemory(): readonly string[] | undefined {
  const { process, Deno } = globalThis as Globals;
  // Deno would ask the user for permission.
  const env = Deno ? undefined : process?.env;
  if (env?.['NODE_ENV'] !== 'production') return undefined;
  const found = names.find((name) => env[name]) ?? (isThread() && 'worker_threads');
  return found
    ? [
        `The count is in this process's memory, but other processes seem to run (${found}), and each would spend the whole limit. Give all of them the same store.`,
      ]
    : undefined;
}

/** Returns whether this is a worker thread, which has a memory of its own. */
function isThread(): boolean {
  return ownProperty(builtinModule('node:worker_threads'), 'isMainThread') === false;
}
