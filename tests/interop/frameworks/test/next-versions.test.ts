import { byDay } from '@service-auth/test-tools/night';
import { test } from 'vitest';
import { type Application, visit } from '../visit-next.ts';

const applications: readonly Application[] = [
  { major: 14, name: 'classic' },
  { major: 15, name: 'classic' },
  { major: 16, name: 'classic' },
  { major: 16, name: 'cache-components' },
];

// `next.test.ts` has an application with cache components.
test.each(byDay(applications, ({ major, name }) => major === 16 && name === 'classic'))(
  'Next.js $major, $name: each page has its token, and no cache has one',
  (application) => visit(application),
);
