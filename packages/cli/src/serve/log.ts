import type { Writable } from 'node:stream';
import { printableJson } from '../line/printable.ts';

export type LogFormat = 'json' | 'text';

type Level = 'debug' | 'info' | 'warning' | 'error';
type Fields = Readonly<Record<string, unknown>>;

/** One line of the log as it is written. Undefined values are left out. */
export function logLine(format: LogFormat, at: number, level: Level, message: string, fields: Fields): string {
  const time = new Date(at).toISOString();
  if (format === 'json') return printableJson({ time, level, message, ...fields });
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
  return [time, level, message, ...pairs.map(([name, value]) => `${name}=${plain(value)}`)].join(' ');
}

/** Text that could end the line or pass for another field is quoted. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : printableJson(value);
  return typeof value === 'string' && !/^[\x21\x23-\x3c\x3e-\x7e]+$/.test(text) ? printableJson(text) : text;
}

export interface Log {
  write(level: Level, message: string, fields?: Fields): void;
  /** A request that was answered. `describe` is called only if requests are logged. */
  request(describe: () => Fields): void;
}

/** `format`: that of `--log`. Undefined: requests are not written, the rest is, as text. */
export function createLog(stream: Writable, format: LogFormat | undefined): Log {
  const write = (level: Level, message: string, fields: Fields = {}) =>
    void stream.write(`${logLine(format ?? 'text', Date.now(), level, message, fields)}\n`);
  return {
    write,
    request: (describe) => format && write('info', 'request', describe()),
  };
}
