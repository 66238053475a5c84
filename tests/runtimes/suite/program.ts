// Node, Bun and Deno run this program with the address of the control as its argument. It must end by itself, because core keeps no process running.
import { runCases } from './cases.ts';

interface Globals {
  readonly Bun?: { readonly inspect: (value: unknown) => string };
  readonly Deno?: { readonly inspect: (value: unknown) => string; readonly args: readonly string[] };
  readonly process: { readonly argv: readonly string[] };
}

const { Bun, Deno, process } = globalThis as unknown as Globals;

async function main(): Promise<void> {
  const inspect = Deno?.inspect ?? Bun?.inspect ?? (await import('node:util')).inspect;
  const results = await runCases({
    control: process.argv[2] ?? '',
    print: (value) => inspect(value),
    tellsUnsent: true,
  });
  console.log(JSON.stringify(results));
}

void main();
