import { styleText } from 'node:util';

/** Prints the demo: a line per event, and on a terminal a last line that moves while an act is running. */
export interface Screen {
  heading(text: string): void;
  act(title: string): void;
  event(text: string): void;
  /** The counts of the service so far. */
  budget(issued: number, limit: number): void;
  /** Replaces what is the last line while the act is running; without a terminal only its last state is printed, by `result`. */
  picture(text: string): void;
  result(text: string): void;
}

const width = 50;

export function createScreen(stream: NodeJS.WriteStream): Screen {
  const terminal = stream.isTTY === true;
  const style = (format: Parameters<typeof styleText>[0], text: string) => (terminal ? styleText(format, text) : text);
  let acts = 0;
  let last = '';

  // The picture is always the last line of a terminal: it is taken away before anything is printed, and put back after.
  const wipe = () => (terminal && last ? '\r\x1b[2K' : '');
  const print = (text: string) => stream.write(`${wipe()}${text}\n${terminal ? last : ''}`);

  function picture(text: string): void {
    const next = `   ${text}`;
    if (next === last) return;
    if (terminal) stream.write(`${wipe()}${next}`);
    last = next;
  }

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
      picture(`${blocks} ${issued} of ${limit} tokens issued, says the service`);
    },
    picture,
    result(text) {
      if (!terminal && last) print(last);
      print(`   ${style('green', '✓')} ${text}`);
    },
  };
}
