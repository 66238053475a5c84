import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '@service-auth/test-tools/servers/listen';
import { startTestService } from '@service-auth/testing';
import type { Questions } from './suite/service.ts';

/** The operations of an object in this process, by name. */
type Answers = Readonly<Record<string, (...argv: never[]) => unknown>>;

/** The objects of this process, for cases that run elsewhere. */
export interface Control {
  readonly url: string;
  /** Has it asked over HTTP, under the id that is returned. */
  offer(answers: Answers): number;
  close(): Promise<void>;
}

/** Runs test services for cases that run elsewhere. */
export async function startControl(): Promise<Control> {
  const offered: Answers[] = [];
  const closers: (() => Promise<void>)[] = [];

  const offer = (answers: Answers): number => offered.push(answers) - 1;

  const start: Questions['start'] = async (options) => {
    const service = await startTestService(options);
    closers.push(service.close);
    const questions: Omit<Questions, 'start'> = {
      counts: () => service.counts,
      next: (...answers) => service.tokenEndpoint.next(...answers),
      always: (always) => service.tokenEndpoint.always(always),
      revoke: (token) => service.revoke(token),
      findSecrets: (searched) => service.findSecrets(searched),
      close: () => service.close(),
    };
    const { authUrl, baseUrl, credentials } = service;
    return { id: offer({ ...questions }), options: { authUrl, baseUrl, ...credentials } };
  };
  // The first of all: what else can be asked has its id from here.
  offer({ start });

  const server = createServer(async (request, response) => {
    try {
      const { id, name, argv } = JSON.parse(await text(request));
      response.end(JSON.stringify({ result: await offered[id]?.[name]?.(...(argv as never[])) }));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  const { url, close } = await listen(server);

  return {
    url,
    offer,
    async close() {
      await Promise.all(closers.map((closeService) => closeService()));
      await close();
    },
  };
}
