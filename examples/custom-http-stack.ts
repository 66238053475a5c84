// No client that there is an adapter for? Core alone, with node:http by hand: for the API, and for the token request too.
//
//   npx --yes pnpm@12 example examples/custom-http-stack.ts
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { createServiceAuth, type Transport } from '@service-auth/core';
import { sendWithToken } from '@service-auth/core/http';
import { startTestService } from '@service-auth/testing';

/** Sends one request, and follows no redirect: the token must not go along. */
async function send(url: URL, options: http.RequestOptions, body?: string): Promise<http.IncomingMessage> {
  const request = (url.protocol === 'https:' ? https : http).request(url, options);
  request.end(body);
  const [response] = await once(request, 'response');
  return response;
}

// Requests the token where the built-in fetch is not enough: through a proxy, with client certificates, with your company's own client.
// It sends one request and returns the answer, with any status. It never retries, because a second POST may cost a second token.
const transport: Transport = async ({ url, method, headers, body, signal }) => {
  const response = await send(new URL(url), { method, headers: { ...headers }, signal }, body);
  console.log(`${method} ${new URL(url).pathname} was answered ${response.statusCode}`);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as Record<string, string>,
    body: await text(response),
  };
};

const service = await startTestService();
const auth = createServiceAuth({ ...service.options, transport });

async function get(path: string): Promise<string> {
  const url = new URL(path, service.baseUrl);
  if (!auth.covers(url)) throw new Error(`${url.origin} is not where the token may go`);
  const response = await sendWithToken(auth, {
    send: ({ authorization }) => send(url, { headers: { authorization } }),
    isRejected: ({ statusCode }) => statusCode === 401,
    canResend: () => true,
    discard: (rejected) => rejected.resume(),
  });
  const body = await text(response);
  return `GET ${path} was answered ${response.statusCode} with ${body.length} characters`;
}

console.log(await get('/api/v1/'));
console.log(await get('/api/v1/'));
service.revoke('all');
console.log(await get('/api/v1/'));
console.log(await get('https://elsewhere.example/').catch((error) => `Refused: ${error.message}`));

console.log(`Tokens issued: ${service.counts.issued}`);
await auth.close();
await service.close();
