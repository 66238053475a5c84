import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { startTestService, type TestService } from '@service-auth/testing';

const clients = ['orders-app', 'billing-app'].map((clientId) => ({
  clientId,
  clientSecret: `secret-of-${clientId}`,
  audiences: ['https://api.example/'] as const,
}));

/**
 * Runs the compiled application against a service on loopback, uses it, and stops it as an orchestrator would: with SIGTERM, while a request
 * waits for its token.
 * @throws AssertionError unless it behaved
 */
export async function tryNestjsApp(node: string, argv: string[]): Promise<void> {
  const service = await startTestService({ clients });
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SERVICE_|NODE_(?!COMPILE_CACHE))/.test(name));
  const app = spawn(node, argv, {
    env: {
      ...Object.fromEntries(inherited),
      SERVICE_AUTH_URL: service.authUrl,
      SERVICE_BASE_URL: service.baseUrl,
      SERVICE_AUTH_AUDIENCE: 'https://api.example/',
      SERVICE_AUTH_CLIENT_ID: 'orders-app',
      SERVICE_AUTH_CLIENT_SECRET: 'secret-of-orders-app',
      BILLING_CLIENT_ID: 'billing-app',
      BILLING_CLIENT_SECRET: 'secret-of-billing-app',
      NO_COLOR: '1',
      PORT: '0',
    },
    timeout: 60_000,
  });
  try {
    await use(app, service);
  } finally {
    app.kill('SIGKILL');
    await service.close();
  }
}

async function use(app: ChildProcessWithoutNullStreams, service: TestService): Promise<void> {
  const stderr = text(app.stderr);
  const ended = once(app, 'close');
  let output = '';
  const listening = new Promise<string>((resolve, reject) => {
    app.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const address = /Listening on (\S+)\n/.exec(output)?.[1];
      if (address) resolve(address);
    });
    void ended.then(async () => reject(new Error(`It ended early:\n${output}\n${await stderr}`)));
  });

  const answers: Record<string, string> = {};
  const ask = async (path: string): Promise<void> => {
    // Closed at once, so that a shutdown has no idle connections to wait for.
    const response = await fetch(`${await listening}${path}`, { headers: { connection: 'close' } });
    answers[path] = `${response.status} ${describe((await response.json()) as Answer)}`;
  };
  await ask('/health');
  await ask('/orders');
  await ask('/orders/usage');
  const paused = service.tokenEndpoint.pauseNext();
  const lastAnswer = ask('/invoices');
  await paused.arrived;
  app.kill('SIGTERM');
  paused.resume();
  await lastAnswer;

  const [exitCode, signal] = await ended;
  output += await stderr;
  assert.deepEqual([exitCode, signal], [null, 'SIGTERM'], output);
  assert.deepEqual(answers, {
    '/health': '200 service up, billing up',
    '/orders': '200 /api/v1/orders with a valid token',
    '/orders/usage': '200 1 used',
    '/invoices': '200 /api/v1/invoices with a valid token',
  });
  assert.deepEqual(
    service.issuances.map(({ clientId }) => clientId),
    ['orders-app', 'billing-app'],
  );
  assert.match(output, /LOG \[ServiceAuth:billing\] Token \S+ issued \(cold\)/);
  // The name as it is written in the source, built or not.
  assert.match(output, /\[InstanceLoader\] ServiceAuthModule /);
  assert.deepEqual(service.findSecrets(output), []);
}

interface Answer {
  readonly bearer?: string;
  readonly path?: string;
  readonly used?: number;
  readonly details?: Record<string, { status: string }>;
}

/** The part that does not differ from run to run. */
function describe(answer: Answer): string {
  if (answer.details)
    return Object.entries(answer.details)
      .map(([key, { status }]) => `${key} ${status}`)
      .join(', ');
  return answer.path ? `${answer.path} with a ${answer.bearer} token` : `${answer.used} used`;
}
