import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import type { ContractCase } from '../src/index.ts';
import { controls, type Mistake } from './support/controls.ts';

/** A contract of one case: the subject is even. */
const evenContract = (subject: number): ContractCase[] => [
  { name: 'is even', run: async () => assert.equal(subject % 2, 0, `${subject} is odd`) },
];
const addsOne: Mistake<number> = {
  name: 'adds one',
  breaks: (subject) => subject + 1,
  caughtBy: { 'is even': /^3 is odd/ },
};

async function controlOf(change: Partial<Mistake<number>>): Promise<void> {
  const [control] = controls(evenContract, 2, [{ ...addsOne, ...change }]);
  await control?.run();
}

test('a control passes if the contract fails with the broken subject', async () => {
  await controlOf({});
  expect(controls(evenContract, 2, [addsOne]).map(({ name }) => name)).toEqual([
    'the contract fails with a subject that adds one',
  ]);
});

test('a control fails if the contract passes with the broken subject', async () => {
  await expect(controlOf({ breaks: (subject) => subject + 2 })).rejects.toThrow('The case "is even" passes');
});

test('a control fails if the contract fails in other words', async () => {
  await expect(controlOf({ caughtBy: { 'is even': /5 is odd/ } })).rejects.toThrow(
    'in other words than /5 is odd/: 3 is odd',
  );
});

test('a control fails if one of several cases does not fail', async () => {
  const twoCases = (subject: number): ContractCase[] => [
    ...evenContract(subject),
    { name: 'is positive', run: async () => assert.ok(subject > 0) },
  ];
  const mistake = { ...addsOne, caughtBy: { ...addsOne.caughtBy, 'is positive': /negative/ } };
  await expect(controls(twoCases, 2, [mistake])[0]?.run()).rejects.toThrow('The case "is positive" passes');
});

test('a control fails if the contract has no such case, and if no case is named', async () => {
  await expect(controlOf({ caughtBy: { 'is odd': /odd/ } })).rejects.toThrow('The contract has no case "is odd"');
  await expect(controlOf({ caughtBy: {} })).rejects.toThrow('No case is expected to fail');
});
