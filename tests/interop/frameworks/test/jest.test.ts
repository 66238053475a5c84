import { expect, test } from 'vitest';
import { createApplication, startProgram } from '../application.ts';

test('Jest runs the tests of an application, with its environments node and jsdom', async () => {
  const home = await createApplication(new URL('../../../../examples/jest/', import.meta.url));
  await using jest = startProgram(home, ['jest/bin/jest.js', '--rootDir', home, '--ci']);
  expect(await jest.ended, jest.output).toBe(0);
  expect(jest.output).toMatch(/Tests: +5 passed, 5 total/);
});
