// A WebSocket gets its token in the header of its handshake.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts ws
import { once } from 'node:events';
import { createServiceAuthFromEnv } from '@service-auth/core';
import WebSocket from 'ws';

const auth = createServiceAuthFromEnv(process.env);

/** Connects, and tries once more with another token if the handshake is answered 401. */
async function connect(path: string, isSecondAttempt = false): Promise<WebSocket> {
  const url = new URL(path, process.env['SERVICE_BASE_URL']);
  // `covers()` knows http: and https: only. So ask it before the address becomes ws: or wss:.
  if (!auth.covers(url)) throw new Error(`${url.origin} is not where the token may go`);
  const token = await auth.getToken();

  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url, { headers: { authorization: token.authorization } });
  const refused = once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number);
  const status = await Promise.race([once(socket, 'open').then(() => 101), refused]);
  if (status === 101) return socket;

  socket.terminate();
  if (status === 401) await auth.invalidate(token);
  if (status !== 401 || isSecondAttempt) throw new Error(`The handshake was answered ${status}`);
  return connect(path, true);
}

const socket = await connect('/api/v1/feed');
socket.send('tea');
const [message] = await once(socket, 'message');
console.log(String(message));
socket.close();
