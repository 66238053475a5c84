import { builtinModule } from './builtin-module.ts';
import { ownProperty } from './untrusted.ts';

// Platforms set these variables where they run several processes of a program, or end and start
// them as they need.
const names = [
  'KUBERNETES_SERVICE_HOST',
  'ECS_CONTAINER_METADATA_URI_V4',
  'AWS_LAMBDA_FUNCTION_NAME',
  'FUNCTIONS_WORKER_RUNTIME', // Azure Functions
  'WEBSITE_INSTANCE_ID', // Azure App Service
  'K_SERVICE', // Cloud Run
  'GAE_INSTANCE', // App Engine
  'FLY_MACHINE_ID',
  'VERCEL',
];

// `vercel dev` and the local host of Azure Functions set variables of their platforms, too.
const environments = ['NODE_ENV', 'VERCEL_ENV', 'AZURE_FUNCTIONS_ENVIRONMENT'];

interface Globals {
  readonly process?: { readonly env?: Record<string, string | undefined> };
  readonly Deno?: unknown;
}

/** Returns the warning of a store in the memory of a process that is probably not alone. */
export function warningOfMemory(): string | undefined {
  const { process, Deno } = globalThis as Globals;
  // Deno would ask the user for permission.
  const env = Deno ? undefined : process?.env;
  if (!env || env['NODE_TEST_CONTEXT']) return undefined;
  if (environments.some((name) => /^(development|test)$/i.test(env[name] ?? ''))) return undefined;
  const found = names.find((name) => env[name]) ?? siblingIn(env);
  return found
    ? `The count is in this process's memory, but other processes seem to run (${found}), and each would spend the whole limit. Give all of them the same store.`
    : undefined;
}

/** Returns the sign that another process or thread of this machine runs the program, too. */
function siblingIn({ NODE_APP_INSTANCE: instance }: Record<string, string | undefined>): string | undefined {
  // pm2 counts from 0. The first process may be the only one, also as a worker of a cluster.
  if (instance) return instance === '0' ? undefined : 'NODE_APP_INSTANCE';
  if (ownProperty(builtinModule('node:cluster'), 'isWorker') === true) return 'node:cluster';
  // A worker thread has a memory of its own.
  return ownProperty(builtinModule('node:worker_threads'), 'isMainThread') === false ? 'worker_threads' : undefined;
}
