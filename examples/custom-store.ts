import type { Store } from '@service-auth/core';
import { timeOfDate } from '@service-auth/core/store';

const encode = (text: string) => Buffer.from(text).toString('base64');
const decode = (base64 = '') => Buffer.from(base64, 'base64').toString();

/** Keeps records in etcd, by the JSON gateway of its server: each record under one key, and its version under another. */
export function etcdStore(url: string | URL): Store {
  async function transact(compare: object, success: object[], failure: object[], signal: AbortSignal | undefined) {
    const response = await fetch(new URL('/v3/kv/txn', url), {
      method: 'POST',
      body: JSON.stringify({ compare: [compare], success, failure }),
      // The fetch of Node would leave a listener on the signal itself.
      signal: signal ? AbortSignal.any([signal]) : null,
    });
    if (!response.ok)
      throw Object.assign(new Error('etcd refused'), { name: 'EtcdError', code: `HTTP_${response.status}` });
    const { succeeded = false, responses = [] } = (await response.json()) as Answer;
    const values = responses.map((each) => each.response_range?.kvs?.map(({ value }) => decode(value))[0]);
    return { succeeded, values, now: timeOfDate(response.headers.get('date')) };
  }

  const keysOf = (key: string) => ({ version: encode(`version/${key}`), record: encode(`record/${key}`) });
  const read = (key: string) => ({ request_range: { key } });
  const put = (key: string, text: string) => ({ request_put: { key, value: encode(text) } });

  return {
    durability: 'durable',
    name: 'etcd',
    async load(key, { signal } = {}) {
      const keys = keysOf(key);
      const exists = { key: keys.version, target: 'CREATE', result: 'GREATER', create_revision: '0' };
      const { values, now } = await transact(exists, [read(keys.version), read(keys.record)], [], signal);
      return { version: values[0], record: values[1], now };
    },
    async swap(key, { expected, version, record }, { signal } = {}) {
      const keys = keysOf(key);
      const compare =
        expected === undefined
          ? { key: keys.version, target: 'CREATE', result: 'EQUAL', create_revision: '0' }
          : { key: keys.version, target: 'VALUE', result: 'EQUAL', value: encode(expected) };
      const change = [put(keys.version, version), put(keys.record, record)];
      const { succeeded, values, now } = await transact(compare, change, [read(keys.version)], signal);
      // A change whose answer was lost comes again: then the version is there already.
      return { swapped: succeeded || values[0] === version, now };
    },
  };
}

interface Answer {
  succeeded?: boolean;
  responses?: { response_range?: { kvs?: { value?: string }[] } }[];
}
