// The parts of the platform that this package uses, by their shapes.

/** The id of a Durable Object. */
interface DurableObjectIdLike {
  toString(): string;
}

/**
 * Calls a Durable Object. The arguments are those of `fetch`; their types differ between the
 * versions of the platform's types.
 */
interface DurableObjectStubLike {
  fetch(url: string, init: never): Promise<{ readonly status: number; text(): Promise<string> }>;
}

/** A binding of `durable_objects`: `env.SERVICE_AUTH`. One of its `jurisdiction()` is one, too. */
export interface DurableObjectNamespaceLike {
  idFromName(name: string): DurableObjectIdLike;
  get(id: never, options?: { locationHint?: never }): DurableObjectStubLike;
}

/** A binding of `kv_namespaces`. It is listed so that it can be refused. */
export interface KeyValueNamespaceLike {
  getWithMetadata(...argv: never[]): unknown;
  put(...argv: never[]): unknown;
}

/** The first argument of the constructor of a Durable Object. */
export interface DurableObjectStateLike {
  readonly storage: DurableObjectStorageLike;
}

/** The storage of a Durable Object with SQLite inside. */
export interface DurableObjectStorageLike {
  readonly sql: { exec(query: string, ...bindings: string[]): { toArray(): Record<string, unknown>[] } };
  transactionSync<Result>(closure: () => Result): Result;
}
