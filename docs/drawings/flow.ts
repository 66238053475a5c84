import { arrow, box, label, type Shape } from './svg.ts';
import { words } from './words.ts';

const { flow } = words;

const left = 4;
const width = 270;
const middle = left + width / 2;
const edge = left + width;
const right = 318;
const rightWidth = 174;
const tall = 54;
const top = { call: 4, memory: 72, load: 166, decide: 252, reserve: 480, send: 564, settle: 648, keep: 732 };
const exits = { wait: top.decide, use: top.decide + 66, deny: top.decide + 132 };
const decideHeight = exits.deny + tall - top.decide;

/** An arrow to the right, from the main column to a way out of it. */
const out = (y: number): Shape => arrow([edge, y + tall / 2], [right, y + tall / 2]);
const down = (from: number, to: number): Shape => arrow([middle, from], [middle, to]);

/** From a call of `getToken()` to the token. */
export const flowShapes: readonly Shape[] = [
  box([left, top.call], [width, 40], 'plain', flow.call),
  down(top.call + 40, top.memory),
  box([left, top.memory], [width, tall], 'here', flow.memory),
  out(top.memory),
  label([edge + 12, top.memory + 20], flow.yes, { faint: true }),
  box([right, top.memory], [rightWidth, tall], 'here', flow.serve),
  down(top.memory + tall, top.load),
  label([middle + 10, top.memory + tall + 24], flow.no, { faint: true }),
  box([left, top.load], [width, tall], 'shared', flow.load),
  down(top.load + tall, top.decide),
  box([left, top.decide], [width, decideHeight], 'here', flow.decide),
  out(exits.wait),
  box([right, exits.wait], [rightWidth, tall], 'plain', flow.wait),
  arrow([right + 87, exits.wait], [right + 87, top.load + tall / 2], [edge, top.load + tall / 2]),
  out(exits.use),
  box([right, exits.use], [rightWidth, tall], 'shared', flow.use),
  arrow(
    [right + rightWidth, exits.use + tall / 2],
    [504, exits.use + tall / 2],
    [504, top.keep + tall / 2],
    [edge, top.keep + tall / 2],
  ),
  out(exits.deny),
  box([right, exits.deny], [rightWidth, tall], 'bad', flow.deny),
  down(top.decide + decideHeight, top.reserve),
  label([middle + 10, top.reserve - 16], flow.admitted, { faint: true }),
  box([left, top.reserve], [width, tall], 'shared', flow.reserve),
  down(top.reserve + tall, top.send),
  box([left, top.send], [width, tall], 'plain', flow.send),
  down(top.send + tall, top.settle),
  box([left, top.settle], [width, tall], 'shared', flow.settle),
  down(top.settle + tall, top.keep),
  box([left, top.keep], [width, tall], 'here', flow.keep),
];
