import { fork } from 'node:child_process';
import { once } from 'node:events';

const child = new URL('./child.ts', import.meta.url);

/** A process that runs the default export of a module with each input it is sent, one after the other. */
export interface Worker<Input, Output> extends AsyncDisposable {
  run(input: Input): Promise<Output>;
}

interface Reply {
  readonly output?: unknown;
  readonly error?: string;
}

/** Starts a process for a module of `workers/`. What its function returns, or throws, comes back. */
export async function startWorker<Input, Output>(
  name: string,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Worker<Input, Output>> {
  const { href } = new URL(`../workers/${name}.ts`, import.meta.url);
  const forked = fork(child, [href], { execArgv: [...flags], env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const next = async (): Promise<unknown> => {
    const controller = new AbortController();
    const { signal } = controller;
    const ended = once(forked, 'exit', { signal }).then(([code]) => {
      throw new Error(`The process of ${name} ended with ${code}.`);
    });
    const [message] = (await Promise.race([once(forked, 'message', { signal }), ended])) as [Reply];
    ended.catch(() => {});
    controller.abort();
    if (message.error !== undefined) throw new Error(`${name}: ${message.error}`);
    return message.output;
  };
  await next();
  return {
    async run(input) {
      forked.send({ input });
      return (await next()) as Output;
    },
    async [Symbol.asyncDispose]() {
      if (forked.exitCode !== null || forked.signalCode !== null) return;
      const exited = once(forked, 'exit');
      forked.kill('SIGKILL');
      await exited;
    },
  };
}

/** Measures several times, one after the other. */
export async function inTurn<Result>(times: number, measure: (round: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let round = 0; round < times; round += 1) results.push(await measure(round));
  return results;
}

/** One input, in a process of its own. */
export async function inProcess<Input, Output>(
  name: string,
  input: Input,
  flags: readonly string[] = [],
): Promise<Output> {
  await using worker = await startWorker<Input, Output>(name, flags);
  return await worker.run(input);
}
