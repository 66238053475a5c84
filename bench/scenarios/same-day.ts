import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startTestService, type TestClientAuthentication } from '@service-auth/testing';
import type { Step } from '../../docs/.vitepress/budget/timetable.ts';
import { startWorker, type Worker } from '../harness/in-process.ts';
import type { DayOrder, DayReply } from '../workers/same-day.ts';

/** A program that a fleet runs. `authentication`: how it sends its secret. Default: in JSON. */
export interface Contender {
  readonly name: string;
  readonly authentication?: TestClientAuthentication;
}

/** How a fleet lived through the day. */
export interface Played {
  /** The tokens that the endpoint issued until midnight. */
  readonly tokens: number;
  /** When the endpoint refused a token for the first time, in milliseconds since midnight. */
  readonly lockedOutAt: number | undefined;
  /** After midnight the API rejects all tokens so far: whether every process then gets an answer, with its second call at the latest. */
  readonly goesOn: boolean;
}

interface Member {
  readonly worker: Worker<DayOrder, DayReply>;
  nextAt: number;
}

// A process starts hundreds of times.
const compiled = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));
const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Leaves out calls in quiet hours, which a token in memory answers: a process plays its first one, one in four hours, and all from
 * the beginning of the 401s until a quarter of an hour after their end.
 */
export function withoutQuietCalls(steps: readonly Step[]): Step[] {
  const calledAt = new Map<string, number>();
  let quietFrom = 0;
  return steps.filter((step) => {
    if (step.kind === 'reject') quietFrom = Number.POSITIVE_INFINITY;
    if (step.kind === 'accept') quietFrom = step.at + 15 * minuteMs;
    if (step.kind !== 'call') return true;
    const last = calledAt.get(step.process) ?? Number.NEGATIVE_INFINITY;
    const isPlayed = step.at < quietFrom || step.at - last >= 4 * hourMs;
    if (isPlayed) calledAt.set(step.process, step.at);
    return isPlayed;
  });
}

/**
 * Lets a fleet of real processes live through the steps of a day, one after the other. `redis`: an empty database. Rejects when `signal`
 * aborts.
 */
export async function playDay(
  { name, authentication }: Contender,
  steps: readonly Step[],
  redis: string,
  signal: AbortSignal,
): Promise<Played> {
  const midnight = Date.now();
  let now = 0;
  const credentials = { clientId: 'client', clientSecret: 'secret' };
  await using service = await startTestService({
    clients: [{ ...credentials, audiences: ['api'] }],
    clientAuthentication: authentication,
    clock: {
      now: () => Math.floor(midnight + now),
      monotonic: () => now,
      setTimer: () => () => {}, // The service delays no answer.
    },
  });
  const client = {
    ...credentials,
    audience: 'api',
    tokenUrl: `${service.authUrl}/oauth/token`,
    apiUrl: `${service.baseUrl}/api/v1/orders`,
  };
  await using stack = new AsyncDisposableStack();
  const aborted = once(signal, 'abort').then(() => signal.throwIfAborted());
  aborted.catch(() => {});
  const members = new Map<string, Member>();
  let lockedOutAt: number | undefined;

  async function order(member: Member, what: Omit<DayOrder, 'at'> = {}): Promise<readonly number[]> {
    signal.throwIfAborted();
    const reply = await Promise.race([member.worker.run({ at: now, ...what }), aborted]);
    member.nextAt = reply?.nextAt ?? Number.POSITIVE_INFINITY;
    if (service.counts.refused > 0) lockedOutAt ??= now;
    return reply?.statuses ?? [];
  }

  async function start(process: string): Promise<void> {
    const member = { worker: stack.use(await startWorker<DayOrder, DayReply>('same-day', [], env)), nextAt: 0 };
    members.set(process, member);
    await order(member, { begin: { name, client, redis, midnight } });
  }

  async function live({ kind, process }: Extract<Step, { process: string }>): Promise<void> {
    if (kind === 'start') return start(process);
    const member = members.get(process);
    if (!member) throw new Error(`There is no process ${process}.`);
    if (kind !== 'kill') await order(member, { does: kind });
    if (kind === 'call') return;
    members.delete(process);
    await member.worker[Symbol.asyncDispose]();
  }

  async function goTo(at: number): Promise<void> {
    for (;;) {
      const [first] = [...members.values()].sort((a, b) => a.nextAt - b.nextAt);
      if (!first || first.nextAt > at) break;
      now = first.nextAt;
      await order(first);
    }
    now = at;
  }

  for (const step of steps) {
    await goTo(step.at);
    if ('process' in step) await live(step);
    else if (step.kind === 'reject') service.api.always({ status: 401 });
    else service.api.clear();
  }
  await goTo(dayMs);
  const tokens = service.counts.issued;
  const lockedOut = lockedOutAt;

  service.revoke('all');
  const last: number[] = [];
  for (const member of members.values()) {
    await order(member, { does: 'call' });
    last.push((await order(member, { does: 'call' })).at(-1) ?? 0);
  }
  const mistakes = service.tokenRequests.flatMap(({ problems }) => problems);
  if (mistakes.length > 0) throw new Error(`${name} asks for tokens in a wrong way: ${mistakes[0]}`);
  return { tokens, lockedOutAt: lockedOut, goesOn: last.every((status) => status === 200) };
}
