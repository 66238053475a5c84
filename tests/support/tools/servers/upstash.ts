import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { type Listening, listen } from './listen.ts';

/** Texts go in base64 if the client asks for that, as its own does. */
function encoded(reply: unknown, isBase64: boolean): unknown {
  if (Array.isArray(reply)) return reply.map((item) => encoded(item, isBase64));
  return typeof reply === 'string' && isBase64 ? Buffer.from(reply).toString('base64') : reply;
}

type Command = [string, ...(string | number)[]];

/** Starts an HTTP server that speaks as the REST API of Upstash does, in front of the Redis at `url`. A POST has one command as a JSON array of texts and numbers, or with the path `/pipeline` an array of commands. */
export async function startUpstashFront(url: string): Promise<Listening> {
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
  const { close, ...address } = await listen(server);
  return {
    ...address,
    close() {
      redis.disconnect();
      return close();
    },
  };
}
