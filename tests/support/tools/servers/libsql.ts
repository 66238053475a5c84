import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newPlace, startServer, type TestServer } from './server.ts';

/** Starts a server that speaks as one of libSQL does. It has no table. What it acknowledged survives SIGKILL. */
export async function startLibsql(): Promise<TestServer> {
  const { folder, port } = await newPlace('libsql');
  const program = fileURLToPath(new URL('libsql-program.ts', import.meta.url));
  return startServer(
    { command: process.execPath, args: [program, join(folder, 'database'), `${port}`], ready: /ready/ },
    { url: `http://127.0.0.1:${port}`, port, folder },
  );
}
