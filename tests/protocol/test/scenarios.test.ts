import { createServiceAuth } from '@service-auth/core';
import { expect, test } from 'vitest';
import { scenarios } from '../src/scenarios/scenarios.ts';
import { wrongClients } from '../src/wrong-clients.ts';

test.each(Object.entries(scenarios))('%s', { timeout: 60_000 }, async (_, scenario) => {
  expect(await scenario(createServiceAuth)).toBeUndefined();
});

const forgets = 'a process that remembers nothing';
const seen: Readonly<Record<string, string>> = {
  'two records that forked a while ago count both sides when they are joined': forgets,
  'a record that went back allows few tokens for as long as the lost ones may count': forgets,
  'a lost record allows few tokens, also when somebody who remembers an older one joins': 'three times the limit',
  'a clock that was ahead and is put right takes no token away, and none counts for longer': 'the first usage for ever',
  'a wait that began on a clock that was ahead lasts an hour at most': 'the first token for ever',
  'a clock that leaps forward frees no budget, whoever looks first': forgets,
};

test.each(Object.keys(scenarios))('a wrong client shows that it can fail: %s', { timeout: 60_000 }, async (name) => {
  const { change } = wrongClients[seen[name] ?? ''] ?? {};
  expect(change && (await scenarios[name]?.(change(createServiceAuth)))).toBeTypeOf('string');
});
