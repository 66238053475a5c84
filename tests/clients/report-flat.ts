// A reporter of node:test with one line for each test, with its file: lines of TAP do not have it.
import type { TestEvent } from 'node:test/reporters';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details.type === 'suite' || data.skip !== undefined || data.todo !== undefined) continue;
    yield `${type === 'test:pass' ? 'ok' : 'not ok'} - ${data.file} > ${data.name}\n`;
  }
}
