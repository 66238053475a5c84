import { arrow, box, label, type Shape } from './svg.ts';
import { words } from './words.ts';

const { slot } = words;

/** From the reservation of a slot until it is free again. */
export const slotShapes: readonly Shape[] = [
  box([160, 4], [180, 40], 'plain', slot.free),
  arrow([250, 44], [250, 108]),
  label([260, 82], slot.reserve, { faint: true }),
  box([140, 108], [220, 56], 'shared', slot.reserved),
  arrow([140, 136], [60, 136], [60, 24], [160, 24]),
  label([70, 82], slot.refused, { faint: true }),
  arrow([180, 164], [180, 206], [90, 206], [90, 256]),
  label([100, 236], slot.token, { faint: true }),
  arrow([320, 164], [320, 206], [410, 206], [410, 256]),
  label([400, 236], slot.silence, { faint: true, anchor: 'end' }),
  box([4, 256], [226, 56], 'here', slot.issued),
  box([260, 256], [226, 56], 'bad', slot.unknown),
  arrow([117, 312], [117, 352], [498, 352], [498, 24], [340, 24]),
  arrow([373, 312], [373, 352]),
  label([250, 374], slot.passed, { faint: true, anchor: 'middle' }),
];
