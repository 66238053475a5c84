import { HttpService } from '@nestjs/axios';
import nest from '@nestjs/common/package.json' with { type: 'json' };
import { expect, test } from 'vitest';
import { requirePeer } from '../src/peer.ts';

// vitest.config.ts runs these tests with each major version of Nest.
const [major] = (process.env['NEST'] ?? '12').split('-');

test('the tests, and what the package loads itself, use the Nest that was asked for', () => {
  expect(nest.version.split('.')[0]).toBe(major);
  expect(requirePeer<typeof import('@nestjs/axios')>('@nestjs/axios', 'a test').HttpService).toBe(HttpService);
});
