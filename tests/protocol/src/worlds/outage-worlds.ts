import { day, hour, minute, second } from '../judge/units.ts';
import { type OutageWorld, usualWorld } from './outage-world.ts';

const hourAndDay = [
  { tokens: 10, windowMs: hour },
  { tokens: 50, windowMs: day },
];

type Works = OutageWorld['works'];

/** A world like the usual one but for the changes. */
function world(
  name: string,
  audiences: number,
  lifeHours: number,
  works: Works,
  ...changes: readonly Partial<OutageWorld>[]
): OutageWorld {
  const usual = { ...usualWorld, processes: audiences > 20 ? 2 : 3, name, audiences, lifeMs: lifeHours * hour, works };
  return Object.assign(usual, ...changes);
}

/** No request works from the one hour to the other. */
const down =
  (fromHour: number, toHour: number): Works =>
  (_audience, atMs) =>
    Number(atMs < fromHour * hour || atMs >= toHour * hour);
/** A request works so often for the first audiences, and so often for the others. */
const broken =
  (first: number, often = 0, others = 1): Works =>
  (audience) =>
    audience < first ? often : others;

const staggered = { isStaggered: true };
const twoDays = { lastsMs: 48 * hour };
const turns = { ...staggered, ...twoDays };
const silent: Partial<OutageWorld> = { fails: () => 'silent' };
const refused: Partial<OutageWorld> = { fails: () => 'refused', ...staggered };
const killed: Partial<OutageWorld> = { fails: () => 'killed', processes: undefined };
const narrow = { windows: hourAndDay };
/** A lease lasts for 30 seconds and the deadline. */
const still = (seconds: number) => ({ timeoutMs: 10 * second, standsStillMs: seconds * second, ...silent });
const steps = (...of: readonly (readonly [atHour: number, byHours: number])[]) => ({
  clockSteps: of.map(([atHour, byHours]) => ({ atMs: atHour * hour, byMs: byHours * hour })),
});
const toAndFro = steps(...Array.from({ length: 28 }, (_, index) => [index + 1, index % 2 === 0 ? 2 : -2] as const));

/** The worlds, in the order of the table: audiences, hours that a token lives, and the requests that work. */
export const outageWorlds: readonly OutageWorld[] = [
  world('an outage of 10 h', 3, 2, down(1, 11)),
  world('one of 5 audiences always fails', 5, 6, broken(1)),
  world('two of 8 always fail', 8, 8, broken(2), twoDays),
  world('two of 8 always fail, tokens end in turn', 8, 8, broken(2), turns),
  world('two of 8 always time out after 300 s', 8, 8, broken(2), turns, silent, { timeoutMs: 300 * second }),
  world('12 of 13 always fail, the other 1 in 4 times', 13, 8, broken(12, 0, 0.75), turns),
  world('12 of 13 always fail', 13, 8, broken(12), twoDays),
  world('five of 6 always fail, the other 1 in 2 times', 6, 6, broken(5, 0, 0.5), twoDays),
  world('one of 5 fails 8 in 10 times', 5, 4, broken(1, 0.2)),
  world('two of 8 fail 9 in 10 times', 8, 8, broken(2, 0.1), turns),
  world('five of 100 always fail, tokens of 40 h', 100, 40, broken(5), staggered),
  world('40 audiences, an outage of 6 h by time-outs', 40, 30, down(1, 7), silent, staggered),
  world('100 audiences without a token, an outage of 2 h by time-outs', 100, 40, down(0, 2), silent),
  world('ten processes are killed in each request for 10 h', 1, 1, down(1, 11), killed),
  world(
    'the processes of 10 of 12 are killed for 11 h',
    12,
    20,
    (audience, atMs) => Number(audience >= 10 || atMs > 11 * hour),
    killed,
  ),
  world('processes stand still for 100 s, an outage of 10 h', 1, 6, down(1, 11), still(100)),
  world('processes stand still for 300 s, an outage of 10 h', 3, 6, down(1, 11), still(300)),
  world('processes stand still for 60 s, no outage', 3, 8, () => 1, still(60)),
  world('10 an hour and 50 a day, an outage of 10 h', 3, 4, down(1, 11), narrow),
  world('10 an hour and 50 a day, two of 6 always fail', 6, 12, broken(2), narrow, turns),
  world('10 an hour and 50 a day, one of 4 always fails', 4, 8, broken(1), narrow, turns),
  world('a new record, an outage of 5 h', 2, 6, down(0, 5), { isYoung: true }),
  world("the store's clock 6 h ahead for 3 h of an outage of 10 h", 3, 2, down(1, 11), steps([3, 6], [6, -6])),
  world("the store's clock 2 h to and fro, two of 8 always fail", 8, 8, broken(2), toAndFro, staggered),
  world('one of 20 is refused', 20, 12, broken(1), refused),
  world('three of 20 are refused', 20, 12, broken(3), refused),
  world('one of 20 is refused, another always fails', 20, 12, broken(2), refused, {
    fails: (audience) => (audience === 0 ? 'refused' : 'failed'),
  }),
  world('no connection for 10 h', 5, 8, down(1, 11), { fails: () => 'unreachable' }),
  world('every second request fails', 4, 4, () => 0.5),
  world('100 processes of 100 audiences are killed for 1 h', 100, 40, down(0, 1), killed),
  world('30 audiences, an outage of 10 h', 30, 12, down(2, 12), staggered),
  world('30 audiences, an outage of 30 h', 30, 12, down(2, 32), staggered, { lastsMs: 40 * hour }),
  world(
    'three of 12 fail for 10 minutes of each hour',
    12,
    6,
    (audience, atMs) => Number(audience >= 3 || atMs % hour > 10 * minute),
    turns,
  ),
  world('a replicated store, two of 8 always fail', 8, 12, broken(2), turns, { durability: 'replicated' }),
];
