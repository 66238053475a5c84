import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WorkerMessage, WorkerOptions } from './worker.ts';

/** The fault of the process that sends the next token request, at that moment. */
type Ambush = (index: number) => void;

/** The processes, each of which is replaced when it dies. */
export interface Fleet {
  readonly size: number;
  /** Everything that a process said and should not have, with what it printed. */
  readonly complaints: readonly string[];
  readonly starts: number;
  /** All processes of the start are running. */
  readonly ready: Promise<void>;
  /** The time at which a process first said that its other agreement is in the record. */
  readonly declaredAt: number | undefined;
  kill(index: number): void;
  stop(index: number): void;
  resume(index: number): void;
  lieInWait(ambush: Ambush): void;
  /** Has every process get a token that the API takes. */
  serveEach(): Promise<unknown>;
  /** The last errors of the callers that `serveEach` has not served yet. */
  denials(): string[];
  close(): Promise<void>;
}

const worker = fileURLToPath(new URL('worker.ts', import.meta.url));

export function startFleet(size: number, optionsOf: (start: number) => WorkerOptions): Fleet {
  const complaints: string[] = [];
  const processes: ChildProcess[] = [];
  const killed = new WeakSet<ChildProcess>();
  const ambushes: Ambush[] = [];
  const askers = new Map<ChildProcess, () => void>();
  const denials = new Map<ChildProcess, string>();
  let onReady = () => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  let begun = 0;
  let closing = false;

  function start(index: number): void {
    const options = optionsOf(fleet.starts);
    fleet.starts += 1;
    const child = fork(worker, [JSON.stringify(options)], {
      execArgv: ['--conditions=@service-auth/source'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    processes[index] = child;
    const print = (chunk: Buffer) => complaints.push(`${options.instance} printed ${chunk}`);
    child.stdout?.on('data', print);
    child.stderr?.on('data', print);
    child.on('message', (message: WorkerMessage) => {
      if (message.type === 'unexpected') complaints.push(`${options.instance} met ${message.what}`);
      if (message.type === 'ready') begun += 1;
      if (begun === size) onReady();
      if (message.type === 'sending' && processes[index] === child) ambushes.shift()?.(index);
      if (message.type === 'declared') fleet.declaredAt ??= Date.now();
      if (message.type === 'denied') denials.set(child, `${options.instance} was last told: ${message.what}`);
      if (message.type === 'served') {
        denials.delete(child);
        askers.get(child)?.();
      }
    });
    child.on('exit', (code, signal) => {
      if (!killed.has(child)) complaints.push(`${options.instance} ended with ${code ?? signal}`);
      if (!closing) start(index);
    });
  }

  function kill(index: number): void {
    const child = processes[index];
    if (!child || killed.has(child)) return;
    killed.add(child);
    child.kill('SIGKILL');
  }

  async function served(index: number): Promise<void> {
    const present = processes[index];
    if (present && killed.has(present)) await once(present, 'exit');
    const child = processes[index];
    if (!child) throw new RangeError(`there is no process ${index}`);
    return new Promise((resolve) => {
      askers.set(child, resolve);
      child.send('serve');
    });
  }

  const fleet = {
    ...{ size, complaints, ready, kill, starts: 0, declaredAt: undefined as number | undefined },
    stop: (index: number) => processes[index]?.kill('SIGSTOP'),
    resume: (index: number) => processes[index]?.kill('SIGCONT'),
    lieInWait: (ambush: Ambush) => ambushes.push(ambush),
    serveEach: () => Promise.all(processes.map((_, index) => served(index))),
    denials: () => [...denials.values()],
    async close() {
      closing = true;
      await Promise.all(
        processes.map(async (child, index) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          kill(index);
          await ended;
        }),
      );
    },
  };
  for (let index = 0; index < size; index += 1) start(index);
  return fleet;
}
