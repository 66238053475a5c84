interface Globals {
  readonly process?: { getBuiltinModule?(name: string): unknown };
}

/** Returns a module of Node. Undefined: this runtime does not have it. */
export function builtinModule(name: string): unknown {
  try {
    return (globalThis as Globals).process?.getBuiltinModule?.(name);
  } catch {
    // The edge runtime of Next.js throws.
    return undefined;
  }
}
