import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { byDay } from '@service-auth/test-tools/night';
import { describe, expect, inject, test } from 'vitest';
import { inChildren } from '../../protocol/src/children.ts';
import { histories } from '../../protocol/src/two-releases/histories.ts';
import type { HistoryTask } from '../../protocol/src/two-releases/worker.ts';

const worker = new URL('../../protocol/src/two-releases/worker.ts', import.meta.url);
const core = join(inject('consumers'), 'all/node_modules/@service-auth/core/dist/index.js');

describe('the packed core in a fleet of two releases', () => {
  // `tests/protocol` has all of them, from the sources.
  test.each(byDay(Object.keys(histories), (history) => history.startsWith('two releases change')))(
    '%s',
    { timeout: 60_000 },
    async (history) => {
      const problems: string[] = [];
      const task: HistoryTask = { history, today: pathToFileURL(core).href };
      await inChildren(worker, [task], (problem: string) => problems.push(problem));
      expect(problems).toEqual(['']);
    },
  );
});
