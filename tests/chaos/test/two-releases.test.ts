import { byDay } from '@service-auth/test-tools/night';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { afterAll, describe, expect, test } from 'vitest';
import { inChildren } from '../../protocol/src/children.ts';
import { histories } from '../../protocol/src/two-releases/histories.ts';
import { openPlace } from '../src/places.ts';
import type { ReleasesTask } from '../src/releases-worker.ts';

const worker = new URL('../src/releases-worker.ts', import.meta.url);

// `tests/protocol` has the same fleets over the store in memory. By day one of them is over files, in processes of its own.
const tried = byDay(Object.keys(histories), (history) => history.startsWith('two releases change'));

for (const kind of byDay(['file', 'redis', 'postgres'] as const, (kind) => kind === 'file')) {
  const place = await orSkip(() => openPlace(kind));
  afterAll(() => place?.close());
  describe.runIf(place)(`a fleet of two releases over ${kind}`, () => {
    test.each(tried)('%s', { timeout: 60_000 }, async (history) => {
      const problems: string[] = [];
      const task: ReleasesTask = { kind, address: place?.address ?? '', history };
      await inChildren(worker, [task], (problem: string) => problems.push(problem));
      expect(problems).toEqual(['']);
    });
  });
}
