import { parseArgs } from 'node:util';
import type { Command, Flags, Option } from './command.ts';

// `parseArgs` changes nothing that the user wrote: cac reads `--client-id 0123` as the number 123,
// and citty ignores options that it does not know.

const insteadOf: Readonly<Record<string, string>> = {
  'client-secret': 'Set SERVICE_AUTH_CLIENT_SECRET or SERVICE_AUTH_CLIENT_SECRET_FILE; /dev/stdin is a file, too',
  'store-key': 'Set SERVICE_AUTH_STORE_KEY or SERVICE_AUTH_STORE_KEY_FILE',
  headers: 'Set SERVICE_AUTH_HEADERS or SERVICE_AUTH_HEADERS_FILE',
};

export interface Invocation {
  /** Undefined: none was named. */
  readonly command: Command | undefined;
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly problems: readonly string[];
}

interface Given {
  readonly name: string;
  /** As written: `-s`, `--store`. */
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

/**
 * Reads the command line. Options may stand before and after the command. Values stay as they were
 * written. All problems are found, and none stops the others from being found.
 */
export function readArguments(argv: readonly string[], commands: readonly Command[], everywhere: Command): Invocation {
  const all = [everywhere, ...commands].flatMap((command) => Object.entries(command.options));
  const options = Object.fromEntries(
    all.map(([name, { value, short }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const);
      return [name, short === undefined ? { type } : { type, short }];
    }),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token] : []));

  const command = findCommand(words, commands);
  const known: Command['options'] = { ...everywhere.options, ...command?.options };
  const optionOf = (name: string) => (Object.hasOwn(known, name) ? known[name] : undefined);
  const problems: string[] = [];
  const flags: Record<string, string | true | readonly string[]> = {};
  for (const option of given) {
    const problem = problemOf(option, optionOf(option.name), flags, command?.name);
    if (problem !== undefined) problems.push(problem);
    else flags[option.name] = givenValue(option, optionOf(option.name), flags[option.name]);
  }

  const operands = words.slice(command?.name.split(' ').length ?? 0);
  if (!command && words.length > 0) problems.unshift(unknownCommand(words, commands));
  if (command && !('help' in flags)) problems.push(...problemsOfOperands(command, operands));
  return { command, flags, operands, problems: [...new Set(problems)] };
}

function findCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const names = [words.slice(0, 2).join(' '), words[0]];
  return names.map((name) => commands.find((command) => command.name === name)).find((command) => command);
}

// A word that does not belong here may be a secret, so no problem repeats it.
function unknownCommand([first = '', second]: readonly string[], commands: readonly Command[]): string {
  const family = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  const there = (family.length > 0 ? family : commands.map(({ name }) => name)).join(', ');
  return `${family.length > 0 && second === undefined ? `${first} needs one more word` : 'this is no command. There are'}: ${there}`;
}

function problemOf(
  { name, rawName, value, inlineValue }: Given,
  option: Option | undefined,
  flags: Flags,
  command: string | undefined,
): string | undefined {
  const instead = Object.hasOwn(insteadOf, name) ? insteadOf[name] : undefined;
  if (instead !== undefined) return `${rawName} does not exist: others can read arguments. ${instead}`;
  if (!option) return `${rawName} is no option${command === undefined ? '' : ` of ${command}`}`;
  if (option.value === undefined) return value === undefined ? undefined : `${rawName} takes no value`;
  if (value === undefined || value === '') return `${rawName} needs a value: ${rawName} ${option.value}`;
  if (!inlineValue && value.startsWith('-') && value !== '-')
    return `${rawName} needs a value; write ${rawName}=${value} if it begins with a hyphen`;
  if (name in flags && !option.multiple) return `${rawName} is given twice`;
  return undefined;
}

function givenValue({ value }: Given, option: Option | undefined, before: Flags[string]): string | true | string[] {
  if (value === undefined) return true;
  return option?.multiple ? [...(Array.isArray(before) ? before : []), value] : value;
}

function problemsOfOperands({ name, operands = [] }: Command, given: readonly string[]): string[] {
  const most = operands.length > 0 ? `${operands.join(' ')}, and no more` : 'no operand';
  const surplus = given.length > operands.length ? [`${name} takes ${most}`] : [];
  return [...operands.slice(given.length).map((operand) => `${name} needs ${operand}`), ...surplus];
}
