import { createDay, type Day } from './day.ts';
import type { Answer, Request } from './messages.ts';

interface WorkerScope {
  onmessage: ((message: { data: Request }) => void) | null;
  postMessage(answer: Answer): void;
  setImmediate: unknown;
}

const scope = globalThis as unknown as WorkerScope;

// Browsers have none. A message is a turn of its own, too.
const turns: (() => void)[] = [];
const channel = new MessageChannel();
channel.port1.onmessage = () => turns.shift()?.();
scope.setImmediate ??= (turn: () => void) => {
  turns.push(turn);
  channel.port2.postMessage(0);
};

// A day replaces it and gives it back, so the scope needs one of its own.
Object.defineProperty(scope, 'crypto', { value: globalThis.crypto, configurable: true });

let day: Day | undefined;
let before: Promise<unknown> = Promise.resolve();

scope.onmessage = ({ data }) => {
  before = before.then(() => obey(data)).catch((error) => scope.postMessage({ id: data.id, failure: `${error}` }));
};

async function obey(request: Request): Promise<void> {
  if (request.type === 'start') {
    day?.end();
    day = createDay(request.settings);
  }
  if (request.type === 'run') await day?.runUntil(request.until);
  if (request.type === 'add') day?.add(request.incident);
  if (day) scope.postMessage({ id: request.id, picture: await day.picture() });
}
