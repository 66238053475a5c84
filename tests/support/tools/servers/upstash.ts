import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';

/** An HTTP server that speaks as the REST API of Upstash does, in front of a Redis. */
export interface UpstashFront {
  readonly url: string;
  close(): Promise<void>;
}

/** Texts go in base64 if the client asks for that, as its own does. */
function encoded(reply: unknown, isBase64: boolean): unknown {
  if (Array.isArray(reply)) return reply.map((item) => encoded(item, isBase64));
  return typeof reply === 'string' && isBase64 ? Buffer.from(reply).toString('base64') : reply;
}

type Command = [string, ...(string | number)[]];

/** Starts a front before the Redis at `url`. A POST has one command as a JSON array of texts and numbers, or with the path `/pipeline` an array of commands. */
export async function startUpstashFront(url: string): Promise<UpstashFront> {
  const redis = new Redis(url);
  redis.on('error', () => {});
  const server = createServer(async (request, response) => {
    const body: unknown = JSON.parse(await text(request));
    const isBase64 = request.headers['upstash-encoding'] === 'base64';
    response.setHeader('content-type', 'application/json');
    const run = async ([command, ...parts]: Command) => {
      try {
        return { result: encoded(await redis.call(command, ...parts), isBase64) };
      } catch (error) {
        return { error: (error as Error).message };
      }
    };
    if (request.url === '/pipeline') {
      response.end(JSON.stringify(await Promise.all((body as Command[]).map(run))));
      return;
    }
    const answer = await run(body as Command);
    if ('error' in answer) response.writeHead(400);
    response.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      redis.disconnect();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
