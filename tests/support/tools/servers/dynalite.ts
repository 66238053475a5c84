import { fileURLToPath } from 'node:url';
import { newPlace, startServer, type TestServer } from './server.ts';

interface ClientSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The settings of a client of the AWS SDK for this server. It takes any credentials. */
export function dynaliteClientSettings(url: string): ClientSettings {
  return { endpoint: url, region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
}

/** Starts dynalite, an implementation of DynamoDB for tests. It has no table. What it acknowledged survives SIGKILL. */
export async function startDynalite(): Promise<TestServer> {
  const program = fileURLToPath(import.meta.resolve('dynalite/cli.js'));
  const { folder, port } = await newPlace('dynalite');
  const settings = { host: '127.0.0.1', port: `${port}`, path: folder, createTableMs: '0' };
  const args = [program, ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])];
  return startServer(
    { command: process.execPath, args, ready: /Dynalite listening/ },
    { url: `http://127.0.0.1:${port}`, port, folder },
  );
}
