import type { Readable, Writable } from 'node:stream';

export interface Option {
  /** The placeholder of the value in the help. Undefined: the option takes no value. */
  readonly value?: string;
  readonly text: string;
  readonly short?: string;
  readonly multiple?: boolean;
}

export type Options = Readonly<Record<string, Option>>;

/** A command as the help shows it and as it is found. */
export interface Command {
  /** One word, or two: `record export`. */
  readonly name: string;
  readonly summary: string;
  readonly details?: string;
  /** What must follow the name: `FILE`. */
  readonly operands?: readonly string[];
  readonly options: Options;
  /** A signal is the usual end of the command, so its exit code is its own then. */
  readonly endsBySignal?: boolean;
  /** A comment and a command line each. */
  readonly examples: readonly (readonly [comment: string, command: string])[];
  /** Loads the command when it runs, so that no command waits for the code of another one. */
  readonly load: () => Promise<{ readonly run: Run }>;
}

/** Runs a command. Resolves with its exit code. */
type Run = (context: Context) => Promise<number>;

/** The values of the given options. One without a value is `true`, and one that repeats a list. */
export type Flags = Readonly<Record<string, string | true | readonly string[] | undefined>>;

/** Standard output. It has a size where it is a terminal, and emits `resize`. */
export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

export interface Context {
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Terminal;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Aborts at Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

/** The value of an option that takes one. */
export function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}
