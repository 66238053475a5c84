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

/** Returns the warning of a store in the memory of a process that is in production and probably not alone. */
export function warningsOfMemory(): readonly string[] | undefined {
  const { process, Deno } = globalThis as { process?: { env?: Record<string, string | undefined> }; Deno?: unknown };
  // Deno would ask the user for permission.
  const env = Deno ? undefined : process?.env;
  const found = env?.['NODE_ENV'] === 'production' ? names.find((name) => env[name]) : undefined;
  if (!found) return undefined;
  return [
    `The record is in the memory of this process, but ${found} is set: other processes do not see it, and a restart forgets it. Each has tokens issued of its own, and counts alone. Give all clients a store that the processes share.`,
  ];
}
