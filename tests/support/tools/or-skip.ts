import { test } from 'vitest';

/**
 * A server for the tests of a file, or undefined where none can be had: then CI fails, and a local run says so in its last line.
 * Awaited at the top of a test file, whose tests go into `describe.runIf(server)`.
 */
export async function orSkip<Server>(start: () => Promise<Server>): Promise<Server | undefined> {
  try {
    return await start();
  } catch (error) {
    if (process.env['CI']) throw error;
    test('what needs a server was not tested', (context) => context.skip((error as Error).message));
    return undefined;
  }
}
