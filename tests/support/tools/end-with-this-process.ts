// Each child that a process starts after it imports this file ends with it. Of a child in a group of its own, the whole group ends. Vitest ends a process by SIGTERM, and SIGKILL lets nothing clean up.
import { type ChildProcess, spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { mkdtempSync } from 'node:fs';
import type { Socket } from 'node:net';

const commands = new Set<string>();
const shell = startShell();

// Node names each new child in this channel, also those of libraries.
subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess };
  child.once('spawn', () => {
    // A detached child has a group of its own, with the children of the child in it.
    child.once('exit', runAtEnd(`kill -KILL -${child.pid} || kill -KILL ${child.pid}`));
  });
});

/** Creates a folder as `mkdtempSync` does. It is deleted when this process has ended, if it still exists. */
export function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(prefix);
  // The children of a killed server write for another moment.
  runAtEnd(`rm -rf '${folder}' || { sleep 1; rm -rf '${folder}'; }`);
  return folder;
}

/** Has the shell run a command when this process has ended. Returns a function that takes the command back. */
function runAtEnd(command: string): () => void {
  commands.add(command);
  setTrap();
  return () => {
    commands.delete(command);
    setTrap();
  };
}

/** The newest command runs first: the end of a server comes before the deletion of its folder. */
function setTrap(): void {
  const script = [...commands].reverse().join('\n').replaceAll("'", "'\\''");
  shell.write(`trap '${script}' EXIT\n`);
}

/** Returns the input of a shell. It ends with this process, and then the shell runs its trap. */
function startShell(): Socket {
  // In a session of its own, the shell gets no signal of the terminal or of this process's group.
  // It needs no secret of the environment, and with NODE_DEBUG Node prints the environment of a child.
  const env = { PATH: process.env['PATH'] };
  const child = spawn('sh', [], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env });
  const input = child.stdin as Socket;
  // Neither keeps this process running.
  child.unref();
  input.unref();
  return input;
}
