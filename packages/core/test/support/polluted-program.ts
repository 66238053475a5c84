// Has a token issued and opened by another client: once as it is, and once for each value of a list, which is then a property of all objects.
// Arguments: the address of the token endpoint, the name, the values as JSON. In JSON `"function"` stands for a function.
const [authUrl = '', name = '', values = '[]'] = process.argv.slice(2);

const { createServiceAuth, memoryStore } = await import('../../src/index.ts');

async function tokens(): Promise<unknown> {
  const options = { authUrl, audience: 'orders', clientId: 'client', clientSecret: 'secret', store: memoryStore() };
  const first = await createServiceAuth(options).getToken();
  const another = createServiceAuth(options);
  // It opens what the first client sealed.
  const second = await another.getToken({ signal: new AbortController().signal });
  return [first.value, second.value, (await another.getUsage()).used];
}

const results = [await tokens()];
for (const value of JSON.parse(values)) {
  const polluted = value === 'function' ? () => 'called' : value;
  Object.defineProperty(Object.prototype, name, {
    value: polluted,
    configurable: true,
    enumerable: true,
    writable: true,
  });
  const result = await tokens().catch((error) => `${error.code}: ${error.message}`);
  Reflect.deleteProperty(Object.prototype, name);
  results.push(result);
}
process.stdout.write(JSON.stringify(results));
process.exit();
