import type { Usage } from './usage.ts';

/** The form of the JSON. It grows only when a program that reads it would break. */
const jsonVersion = 1;

/** The address of the JSON schema. The package does not contain it. */
export const usageSchema = 'https://github.com/service-auth/service-auth/blob/main/docs/usage.schema.json';

/** The usage as JSON: every instant as ISO 8601. */
export function usageJson(usage: Usage): object {
  return { version: jsonVersion, ...(withIsoInstants(usage) as object) };
}

/** Names of instants end in `At`, or are `at`, `until` and `refusedUntil`. */
function withIsoInstants(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIsoInstants);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, part]) => {
    const isInstant = typeof part === 'number' && /(^at|At|^until|Until)$/.test(name);
    return [name, isInstant ? new Date(part).toISOString() : withIsoInstants(part)];
  });
  return Object.fromEntries(entries);
}
