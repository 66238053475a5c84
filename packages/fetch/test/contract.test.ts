import { createServiceAuth } from '@service-auth/core';
import { type ConnectHttpClient, type HttpClientBody, httpClientContract } from '@service-auth/testing';
import { describe, test } from 'vitest';
import { createAuthFetch } from '../src/index.ts';

function contentOf(body: HttpClientBody | undefined): RequestInit {
  if (!body) return {};
  if (body.kind === 'json') return { body: JSON.stringify(body.value) };
  return { body: body.value, ...(body.kind === 'stream' && { duplex: 'half' }) };
}

const connect: ConnectHttpClient = ({ options }) => {
  const auth = createServiceAuth(options);
  const authFetch = createAuthFetch(auth);
  return {
    auth,
    async request({ method, url, headers, body, signal, timeoutMs, optOut }) {
      const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
      const either = signal ?? timeout ?? null;
      const send = optOut ? fetch : authFetch;
      const response = await send(url, { method, headers: { ...headers }, signal: either, ...contentOf(body) });
      return { status: response.status, text: await response.text() };
    },
    close: () => auth.close(),
  };
};

describe('the contract of HTTP clients', () => {
  for (const { name, run } of httpClientContract(connect)) test(name, run);
});
