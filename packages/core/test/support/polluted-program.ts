// Has a token issued and opened by another client: once as it is, and once for each value of a list, which is then a property of all objects.
// Each message is one such task. In it `"function"` stands for a function.
const { createServiceAuth, memoryStore } = await import('../../src/index.ts');

interface Task {
  readonly authUrl: string;
  readonly name: string;
  readonly values: readonly unknown[];
}

async function tokens(authUrl: string): Promise<unknown> {
  const options = { authUrl, audience: 'orders', clientId: 'client', clientSecret: 'secret', store: memoryStore() };
  const first = await createServiceAuth(options).getToken();
  const another = createServiceAuth(options);
  // It opens what the first client sealed.
  const second = await another.getToken({ signal: new AbortController().signal });
  return [first.value, second.value, (await another.getUsage()).used];
}

process.on('message', async ({ authUrl, name, values }: Task) => {
  const results = [await tokens(authUrl)];
  for (const value of values) {
    const polluted = value === 'function' ? () => 'called' : value;
    Object.defineProperty(Object.prototype, name, {
      value: polluted,
      configurable: true,
      enumerable: true,
      writable: true,
    });
    const result = await tokens(authUrl).catch((error) => `${error.code}: ${error.message}`);
    Reflect.deleteProperty(Object.prototype, name);
    results.push(result);
  }
  process.send?.(results);
});
