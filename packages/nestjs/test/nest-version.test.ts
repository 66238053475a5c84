import { HttpService } from '@nestjs/axios';
import nest from '@nestjs/common/package.json' with { type: 'json' };
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { expect, test } from 'vitest';

// vitest.config.ts runs these tests with each major version of Nest.
const [major] = (process.env['NEST'] ?? '12').split('-');

test('the tests, and the package itself, use the Nest that was asked for', () => {
  expect(nest.version.split('.')[0]).toBe(major);
  expect(ServiceAuthHttpModule.register().exports).toEqual([HttpService]);
});
