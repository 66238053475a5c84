import { styleText } from 'node:util';

/** Prints the demo: a line per event, and on a terminal a bar that moves while an act is running. */
export interface Screen {
  heading(text: string): void;
  act(title: string): void;
  event(text: string): void;
  /** What the service counted so far. */
  budget(issued: number, limit: number): void;
  result(text: string): void;
}

const width = 50;

export function createScreen(stream: NodeJS.WriteStream): Screen {
  const terminal = stream.isTTY === true;
  const style = (format: Parameters<typeof styleText>[0], text: string) => (terminal ? styleText(format, text) : text);
  let acts = 0;
  let bar = '';

  // The bar is always the last line of a terminal: it is taken away before anything is printed, and put back after.
  const wipe = () => (terminal && bar ? '\r\x1b[2K' : '');
  const print = (text: string) => stream.write(`${wipe()}${text}\n${terminal ? bar : ''}`);

  return {
    heading: (text) => print(style('bold', text)),
    act(title) {
      acts += 1;
      print(`\n${style(['bold', 'cyan'], `${acts}. ${title}`)}`);
    },
    event: (text) => print(`   ${style('dim', '·')} ${text}`),
    budget(issued, limit) {
      const filled = Math.ceil((issued / limit) * width);
      const blocks =
        style(issued > limit * 0.7 ? 'yellow' : 'green', '█'.repeat(filled)) + style('dim', '░'.repeat(width - filled));
      const next = `   ${blocks} ${issued} of ${limit} tokens issued, says the service`;
      if (next === bar) return;
      if (terminal) stream.write(`${wipe()}${next}`);
      bar = next;
    },
    result(text) {
      if (!terminal && bar) print(bar);
      print(`   ${style('green', '✓')} ${text}`);
    },
  };
}
