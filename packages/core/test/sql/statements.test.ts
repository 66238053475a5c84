import { beforeEach, describe, expect, test } from 'vitest';
import { createStatements, type Row, type Statements } from '../../src/sql/statements.ts';

/** A statement that runs on the server, and how a test ends it. */
interface Running {
  readonly text: string;
  answer(row?: Row): void;
  fail(error: unknown): void;
}

let sent: Running[];
let now: number;
let statements: Statements;
const conflict = new Error('conflict');
const second = 1_000;

beforeEach(() => {
  sent = [];
  now = 0;
  const query = (text: string) =>
    new Promise<Row>((answer, fail) => {
      sent.push({ text, answer: (row = {}) => answer(row), fail });
    });
  statements = createStatements({ query, isConflict: (error) => error === conflict }, () => now);
});

/** Lets everything run that can run without an answer of the server. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const texts = () => sent.map(({ text }) => text);

/** Sends a statement whose caller stops waiting. */
async function abandon(text: string): Promise<void> {
  const controller = new AbortController();
  const call = statements.run(text, [], controller.signal);
  await settled();
  controller.abort(new Error('the deadline'));
  await expect(call).rejects.toThrow('the deadline');
}

describe('a statement that several callers share', () => {
  test('runs once for all who ask before it starts, and once more for all who ask while it runs', async () => {
    const calls = [1, 2, 3].map(() => statements.runShared('load', ['key'], undefined));
    await settled();
    expect(texts()).toEqual(['load']);
    calls.push(...[4, 5].map(() => statements.runShared('load', ['key'], undefined)));
    await settled();
    expect(texts()).toEqual(['load']);
    sent[0]?.answer({ at: 'first' });
    await settled();
    expect(texts()).toEqual(['load', 'load']);
    sent[1]?.answer({ at: 'second' });
    const answers = await Promise.all(calls);
    expect(answers[0]).toEqual({ at: 'first' });
    expect(answers.slice(3)).toEqual([{ at: 'second' }, { at: 'second' }]);
  });

  test('does not share its row with one of other values, even if they look the same side by side', async () => {
    void statements.runShared('load', ['a', 'b'], undefined);
    void statements.runShared('load', ['a,1 b'], undefined);
    await settled();
    expect(sent).toHaveLength(2);
  });

  test('that fails fails its callers, and those who wait for the next one are served', async () => {
    const first = statements.runShared('load', [], undefined);
    await settled();
    const next = statements.runShared('load', [], undefined);
    await settled();
    sent[0]?.fail(new Error('down'));
    await expect(first).rejects.toThrow('down');
    await settled();
    sent[1]?.answer({ now: 1 });
    expect(await next).toEqual({ now: 1 });
  });

  test('goes on for the others when one of its callers stops waiting', async () => {
    const controller = new AbortController();
    const impatient = statements.runShared('load', [], controller.signal);
    const patient = statements.runShared('load', [], undefined);
    await settled();
    controller.abort(new Error('the deadline'));
    await expect(impatient).rejects.toThrow('the deadline');
    sent[0]?.answer({ now: 1 });
    expect(await patient).toEqual({ now: 1 });
    expect(sent).toHaveLength(1);
  });
});

describe('a conflict', () => {
  test('has the statement run again', async () => {
    const call = statements.run('swap', [], undefined);
    await settled();
    sent[0]?.fail(conflict);
    await settled();
    sent[1]?.answer({ swapped: true });
    expect(await call).toEqual({ swapped: true });
  });

  test('is an error after a hundred attempts, and another error at once', async () => {
    const call = statements.run('swap', [], undefined);
    for (let attempt = 0; attempt < 100; attempt += 1) {
      await settled();
      sent[attempt]?.fail(conflict);
    }
    await expect(call).rejects.toBe(conflict);
    expect(sent).toHaveLength(100);
    const other = statements.run('swap', [], undefined);
    await settled();
    sent[100]?.fail(new Error('down'));
    await expect(other).rejects.toThrow('down');
    expect(sent).toHaveLength(101);
  });

  test('is not followed by another attempt when nobody waits any more', async () => {
    const controller = new AbortController();
    const call = statements.run('swap', [], controller.signal);
    await settled();
    sent[0]?.fail(conflict);
    controller.abort(new Error('the deadline'));
    await expect(call).rejects.toThrow('the deadline');
    await settled();
    expect(sent).toHaveLength(1);
  });
});

describe('a statement that runs after its deadline', () => {
  test('blocks others until it ends', async () => {
    await abandon('lost');
    const call = statements.run('next', [], undefined);
    await settled();
    expect(texts()).toEqual(['lost']);
    sent[0]?.answer();
    await settled();
    expect(texts()).toEqual(['lost', 'next']);
    sent[1]?.answer({ now: 1 });
    expect(await call).toEqual({ now: 1 });
  });

  test('blocks others for 15 seconds if it does not end, the next one for 30, and none for more than five minutes', async () => {
    for (const [index, blockedMs] of [15, 30, 60, 120, 240, 300, 300].map((seconds) => seconds * second).entries()) {
      await abandon(`lost ${index}`);
      expect(sent).toHaveLength(index + 1);
      now += blockedMs - 1;
      const controller = new AbortController();
      const early = statements.run('early', [], controller.signal);
      await settled();
      controller.abort(new Error('the deadline'));
      await expect(early).rejects.toThrow('the deadline');
      expect(sent).toHaveLength(index + 1);
      now += 1;
    }
  });

  test('does not keep a caller for longer than its own deadline', async () => {
    await abandon('lost');
    const controller = new AbortController();
    const call = statements.runShared('load', [], controller.signal);
    await settled();
    controller.abort(new Error('its own deadline'));
    await expect(call).rejects.toThrow('its own deadline');
    expect(texts()).toEqual(['lost']);
  });

  test('is not shared any more when its block is over', async () => {
    const controller = new AbortController();
    const lost = statements.runShared('load', [], controller.signal);
    await settled();
    controller.abort(new Error('the deadline'));
    await expect(lost).rejects.toThrow('the deadline');
    now += 15 * second;
    const call = statements.runShared('load', [], undefined);
    await settled();
    expect(texts()).toEqual(['load', 'load']);
    sent[1]?.answer({ now: 1 });
    expect(await call).toEqual({ now: 1 });
  });

  test('that fails later is no error of anybody', async () => {
    await abandon('lost');
    sent[0]?.fail(new Error('nobody waits for it'));
    await settled();
    const call = statements.run('next', [], undefined);
    await settled();
    sent[1]?.answer({ now: 1 });
    expect(await call).toEqual({ now: 1 });
  });
});
