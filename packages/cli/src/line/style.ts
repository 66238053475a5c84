import type { Context } from './command.ts';

const narrowest = 40;
const usual = 80;
const widest = 120;

/**
 * The form in which a command writes to standard output: plain and 80 columns wide where there is
 * no terminal. `NO_COLOR` takes the colours away (no-color.org).
 */
export function styleOf({ stdout, env }: Context): { colours: boolean; columns: number; now: number } {
  const isTerminal = stdout.isTTY === true;
  const colours = isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  const columns = isTerminal ? stdout.columns || usual : Number(env['COLUMNS'] ?? usual) || usual;
  return { colours, columns: Math.min(widest, Math.max(narrowest, columns)), now: Date.now() };
}
