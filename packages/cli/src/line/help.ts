import type { Command, Options } from './command.ts';
import { wrapped as linesOf } from './wrapped.ts';

const width = 100;

export function programHelp(commands: readonly Command[], everywhere: Command): string {
  const longest = Math.max(...commands.map(({ name }) => name.length));
  return [
    everywhere.summary,
    section('Usage', '  service-auth COMMAND [OPTIONS]'),
    section('Commands', commands.map(({ name, summary }) => columns(name, summary, longest)).join('\n')),
    section('Configuration', everywhere.details ?? ''),
    section('Options of every command', optionLines(everywhere.options)),
    section('Examples', exampleLines(everywhere)),
    'service-auth COMMAND --help says more about a command.',
  ].join('\n\n');
}

/** The help of one command. `shared`: options that it has in common with others. */
export function commandHelp(command: Command, everywhere: Command, shared: Options): string {
  const { name, summary, details, operands = [] } = command;
  const own = Object.entries(command.options).filter(([option]) => !(option in shared));
  const configuration = Object.entries(command.options).filter(([option]) => option in shared);
  const usage = ['service-auth', name, ...operands, '[OPTIONS]'];
  return [
    summary,
    ...(details === undefined ? [] : [wrapped(details, 0)]),
    section('Usage', `  ${usage.join(' ')}`),
    ...(own.length > 0 ? [section('Options', optionLines(Object.fromEntries(own)))] : []),
    section('Configuration', optionLines({ ...Object.fromEntries(configuration), ...everywhere.options })),
    section('Examples', exampleLines(command)),
  ].join('\n\n');
}

function section(title: string, body: string): string {
  return `${title}:\n${body}`;
}

function exampleLines({ examples }: Command): string {
  return examples.map(([comment, command]) => `  # ${comment}\n  ${command}`).join('\n\n');
}

function optionLines(options: Options): string {
  const named = Object.entries(options).map(([name, { short, value, text }]) => {
    const form = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
    return [form, text] as const;
  });
  const longest = Math.max(...named.map(([form]) => form.length));
  return named.map(([form, text]) => columns(form, text, longest)).join('\n');
}

function columns(left: string, right: string, longest: number): string {
  const indent = longest + 4;
  return `  ${left.padEnd(longest)}  ${wrapped(right, indent).trimStart()}`;
}

function wrapped(text: string, indent: number): string {
  return linesOf(text, width - indent)
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');
}
