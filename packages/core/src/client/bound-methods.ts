/**
 * Describes methods of a prototype as properties of an object, so that each can be passed on without the object and is part of `{ ...object }`. They are bound
 * when they are read: with thousands of objects, most of the functions would never be called. All objects share the description.
 */
export function boundMethods(prototype: object, names: readonly PropertyKey[]): PropertyDescriptorMap {
  const described = names.map((name): [PropertyKey, PropertyDescriptor] => [
    name,
    {
      get(this: unknown) {
        const method = Reflect.get(prototype, name) as (...args: unknown[]) => unknown;
        // This is no bound function, because V8 accepts none in `await using`.
        return (...args: unknown[]) => method.apply(this, args);
      },
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
      },
      enumerable: true,
      configurable: true,
    },
  ]);
  return Object.fromEntries(described) as PropertyDescriptorMap;
}
