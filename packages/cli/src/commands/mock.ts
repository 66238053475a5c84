import { once } from 'node:events';
import { startTestService } from '@service-auth/testing';
import { type Context, textOf } from '../line/command.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';
import { portOf } from '../serve/settings.ts';

export async function run({ flags, stdout, signal }: Context): Promise<number> {
  const port = portOf(textOf(flags, 'port') ?? '0');
  if (port === undefined) throw new UsageError(['--port must be a number from 0 to 65535; 0 is a free one']);
  const service = await startTestService({ port }).catch((error: unknown) => {
    throw new Failure(`port ${port} cannot be used (${Object(error).code}); choose another one, or none`);
  });
  for (const [name, value] of Object.entries(service.env)) stdout.write(`export ${name}=${value}\n`);
  if (!signal.aborted) await once(signal, 'abort');
  await service.close();
  return exitCodes.success;
}
