import { inspect } from 'node:util';

const deeply = { depth: Number.POSITIVE_INFINITY, maxStringLength: null, maxArrayLength: null };

/** All ways in which a value of ours may appear in a log or a debugger. */
export function renderings(value: unknown): string[] {
  return withCauses(value, renderings, [
    inspect(value, { ...deeply, showHidden: true, getters: true }),
    inspect(value, { ...deeply, showHidden: true, customInspect: false }),
    json(value && Object(value) === value ? ownProperties(value) : value),
  ]);
}

/** Every way in which somebody may log a value of a library, who does not ask for what the library hides. */
export function logLines(value: unknown): string[] {
  return withCauses(value, logLines, [
    inspect(value, { ...deeply, getters: true }),
    inspect(value, { ...deeply, customInspect: false }),
    json(value instanceof Error ? flattened(value) : value),
  ]);
}

function withCauses(value: unknown, render: (cause: unknown) => string[], texts: string[]): string[] {
  const all = [inspect(value), json(value), text(value), ...texts];
  return value instanceof Error ? [...all, value.message, value.stack ?? '', ...render(value.cause)] : all;
}

function text(value: unknown): string {
  return typeof value === 'object' && value !== null && !('toString' in value) ? '' : String(value);
}

/** Each object is shown once, so that circles end. */
function json(value: unknown): string {
  const shown = new Set<unknown>();
  const once = (_name: string, part: unknown): unknown => {
    if (typeof part === 'bigint') return `${part}`;
    if (typeof part !== 'object' || part === null) return part;
    return shown.has(part) ? undefined : shown.add(part) && part;
  };
  return JSON.stringify(value, once) ?? '';
}

function ownProperties(value: object): object {
  return Object.fromEntries(Object.getOwnPropertyNames(value).map((name) => [name, Reflect.get(value, name)]));
}

/** As the serializers of pino and other loggers see an error: by its enumerable properties, the inherited ones included. */
function flattened(error: Error): object {
  const copy: Record<string, unknown> = { message: error.message, stack: error.stack };
  for (const name in error) copy[name] = Reflect.get(error, name);
  return copy;
}
