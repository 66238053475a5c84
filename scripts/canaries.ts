import { inspect } from 'node:util';

/** A client secret of tests. Nothing that can be read may contain it. */
export const secretCanary = 'canary-secret-5f0e3a7c91';
/** How tokens of tests begin. Nothing that can be read may contain it, but a token's own value. */
export const tokenCanary = 'canary-token-b2d84c60f7';

const deeply = { depth: Number.POSITIVE_INFINITY, showHidden: true };

/** Every way in which a value may get into a log. */
function renderings(value: unknown): string[] {
  const texts = [
    inspect(value, { ...deeply, getters: true, maxStringLength: null }),
    inspect(value, { ...deeply, customInspect: false, maxArrayLength: null }),
    JSON.stringify(value) ?? '',
    JSON.stringify(value, Object.getOwnPropertyNames(value ?? {})) ?? '',
    typeof value === 'object' && value !== null && !('toString' in value) ? '' : String(value),
  ];
  if (value instanceof Error) texts.push(value.message, value.stack ?? '', ...renderings(value.cause));
  return texts;
}

/** The canaries that can be read in a value: in its text, its properties, its causes, inspected at any depth, or as JSON. */
export function canariesIn(value: unknown): string[] {
  const text = renderings(value).join('\n');
  return [secretCanary, tokenCanary].filter((canary) => text.includes(canary));
}
