import { flowShapes } from './flow.ts';
import { recordShapes } from './record.ts';
import { reserveShapes } from './reserve.ts';
import { slotShapes } from './slot.ts';
import { drawing, themeNames } from './svg.ts';
import { words } from './words.ts';

const all = {
  flow: { title: words.flow.title, size: [508, 790], shapes: flowShapes },
  record: { title: words.record.title, size: [504, 454], shapes: recordShapes },
  reserve: { title: words.reserve.title, size: [504, 440], shapes: reserveShapes },
  slot: { title: words.slot.title, size: [504, 386], shapes: slotShapes },
} as const;

/** The pictures of the guide, by their file names. */
export function drawings(): Map<string, string> {
  const files = Object.entries(all).flatMap(([name, { title, size, shapes }]) =>
    themeNames.map((theme): [string, string] => [`${name}-${theme}.svg`, drawing(title, size, shapes, theme)]),
  );
  return new Map(files);
}
