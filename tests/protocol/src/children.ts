import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Has `tasks` done by as many processes as there are processors, each of which runs `worker`, a module that calls {@link serve}. No task is
 * begun after `signal`.
 */
export async function inChildren<Task, Result>(
  worker: URL,
  tasks: readonly Task[],
  done: (result: Result, task: Task) => void,
  signal?: AbortSignal,
): Promise<void> {
  const waiting = [...tasks];
  await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), tasks.length) }, () => {
      const child = fork(worker, { execArgv: ['--conditions=@service-auth/source'], serialization: 'advanced' });
      let task: Task | undefined;
      const next = () => {
        task = signal?.aborted ? undefined : waiting.shift();
        if (task === undefined) child.disconnect();
        else child.send(task as object);
      };
      child.on('message', ({ result }: { readonly result: Result }) => {
        done(result, task as Task);
        next();
      });
      next();
      return new Promise<void>((resolve, reject) => {
        child.on('error', reject);
        child.on('exit', (code) => {
          if (code === 0) resolve();
          else reject(new Error(`A child process failed with ${code} at ${JSON.stringify(task)}.`));
        });
      });
    }),
  );
}

/** In the child: does one task after the other, and ends with its parent. */
export function serve<Task, Result>(work: (task: Task) => Promise<Result>): void {
  // Ctrl+C reaches the children, too, but it is the parent who says when they end.
  process.on('SIGINT', () => {});
  process.on('message', (task: Task) => void work(task).then((result) => process.send?.({ result })));
  process.on('disconnect', () => process.exit());
}
