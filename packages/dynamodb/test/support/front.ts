import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** An answer in place of the one of DynamoDB. */
export interface Answer {
  readonly status: number;
  readonly body: object;
}

/** An HTTP server between a client and dynalite. */
export interface Front {
  readonly url: string;
  /** The actions that were asked for, in order: `GetItem`. */
  readonly actions: string[];
  /** Answers in place of dynalite, unless it returns undefined. */
  answer: (action: string) => Answer | undefined;
  /** Takes the Date from all answers. */
  removesDate: boolean;
}

/** The error with which DynamoDB refuses an action. */
export function refusal(name: string, status = 400): Answer {
  return { status, body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'refused' } };
}

/** Starts a front for one test. */
export async function startFront(target: string): Promise<Front> {
  const server = createServer(async (incoming, outgoing) => {
    const action = `${incoming.headers['x-amz-target']}`.replace(/^.*\./, '');
    front.actions.push(action);
    outgoing.sendDate = !front.removesDate;
    const answer = front.answer(action);
    if (answer) {
      incoming.resume();
      outgoing.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
      outgoing.end(JSON.stringify(answer.body));
      return;
    }
    const { method, headers, url } = incoming;
    const forwarded = request(new URL(`${url}`, target), { method, headers });
    incoming.pipe(forwarded);
    const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
    const { date, ...others } = response.headers;
    outgoing.writeHead(response.statusCode ?? 500, front.removesDate ? others : { ...others, date });
    response.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    actions: [],
    answer: () => undefined,
    removesDate: false,
  };
  return front;
}
