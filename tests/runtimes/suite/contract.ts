// The contract of HTTP clients with the fetch of this runtime: what Node, Bun and Deno run. Its services listen in this process.
import { createServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { type ConnectHttpClient, type HttpClientBody, httpClientContract } from '@service-auth/testing';
import type { Result } from './cases.ts';

function contentOf(body: HttpClientBody | undefined): RequestInit {
  if (!body) return {};
  if (body.kind === 'json') return { body: JSON.stringify(body.value) };
  return { body: body.value, ...(body.kind === 'stream' && { duplex: 'half' }) };
}

const connect: ConnectHttpClient = ({ options, isRejected }) => {
  const auth = createServiceAuth(options);
  const authFetch = createAuthFetch(auth, { isRejected });
  return {
    auth,
    async request({ method, url, headers, body, signal, timeoutMs, optOut }) {
      const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
      const send = optOut ? fetch : authFetch;
      const init = { method, headers: { ...headers }, signal: signal ?? timeout ?? null, ...contentOf(body) };
      const response = await send(url, init);
      return { status: response.status, text: await response.text() };
    },
    close: () => auth.close(),
  };
};

async function main(): Promise<void> {
  const results: Result[] = [];
  for (const { name, run } of httpClientContract(connect, { isRejected: true })) {
    const problem = await run().then(
      () => undefined,
      (error: Error) => String(error.stack ?? error),
    );
    results.push({ name, problem });
  }
  console.log(JSON.stringify(results));
}

void main();
