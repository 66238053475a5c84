import type { Store } from '@service-auth/core';

/** A store that writes as many token caches do: over whatever is there. It works until two processes write at once. */
export function blind(store: Store): Store {
  return {
    ...store,
    async swap(key, change, options) {
      for (;;) {
        const { version } = await store.load(key, options);
        const result = await store.swap(key, { ...change, expected: version }, options);
        if (result.swapped) return result;
      }
    },
  };
}
