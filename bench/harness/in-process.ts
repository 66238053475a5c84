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
): Promise<Worker<Input, Output>> {
  const { href } = new URL(`../workers/${name}.ts`, import.meta.url);
  const process = fork(child, [href], { execArgv: [...flags], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const next = async (): Promise<unknown> => {
    const controller = new AbortController();
    const { signal } = controller;
    const ended = once(process, 'exit', { signal }).then(([code]) => {
      throw new Error(`The process of ${name} ended with ${code}.`);
    });
    const [message] = (await Promise.race([once(process, 'message', { signal }), ended])) as [Reply];
    ended.catch(() => {});
    controller.abort();
    if (message.error !== undefined) throw new Error(`${name}: ${message.error}`);
    return message.output;
  };
  await next();
  return {
    async run(input) {
      process.send({ input });
      return (await next()) as Output;
    },
    async [Symbol.asyncDispose]() {
      if (process.exitCode !== null || process.signalCode !== null) return;
      const exited = once(process, 'exit');
      process.kill('SIGKILL');
      await exited;
    },
  };
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
