import { describe, expect, test } from 'vitest';
import { readQuota } from '../src/endpoint/response-headers.ts';

const hour = 3_600_000;

describe('what a provider says of its count is read', () => {
  test('for each of its windows', () => {
    expect(readQuota('b=per_hour;q=10;r=7;t=3540,b=per_day;q=50;r=47;t=43200')).toEqual([
      { windowMs: hour, tokens: 10, remaining: 7, endsInMs: 3_540_000 },
      { windowMs: 24 * hour, tokens: 50, remaining: 47, endsInMs: 12 * hour },
    ]);
  });

  test.each(['per_hour;q=10;r=7;t=60', ' b=per_hour ; q=10;\r\n r=7; t=60 '])('also in the form %j', (value) => {
    expect(readQuota(value)).toEqual([{ windowMs: hour, tokens: 10, remaining: 7, endsInMs: 60_000 }]);
  });
});

test.each([
  '',
  'q=10;r=7;t=60',
  'b=per_month;q=10;r=7;t=60',
  'b=per_hour;q=10;r=7;t=-1',
  'b=per_hour;q=10;r=7;t=1e9',
  'b=per_hour;q=10;r=7;t=1000000000',
  'b=per_hour;q=10;r=7;t=3601',
  'b=per_hour;q=10;r=11;t=60',
  'b=per_hour;q=-10;r=0;t=60',
  'b=per_hour;q=10;r=7.5;t=60',
  'b=per_hour;q=10;r=7',
  'b=per_hour;q=10;r=7;t=60,',
  'b=per_hour;q=10;r=7;t=60,b=per_hour;q=10;r=0;t=60',
  'b=per_hour;q=10;r=7;t=60;x=1',
  'b=per_hour;q=10;r=7;t=60,b=per_day;q=50;r=x;t=60',
  '"daily";r=7;t=60',
])('nothing is read from %j', (value) => {
  expect(readQuota(value)).toBeUndefined();
});
