import { day, hour, minute, second } from '../judge/units.ts';
import { type OutageWorld, usualWorld } from './outage-world.ts';

const hourAndDay = [
  { tokens: 10, windowMs: hour },
  { tokens: 50, windowMs: day },
];

type Given = Partial<OutageWorld> & Pick<OutageWorld, 'lifeMs' | 'works'>;

function world(name: string, audiences: number, given: Given): OutageWorld {
  return { ...usualWorld, processes: audiences > 20 ? 2 : 3, ...given, name, audiences };
}

/** No request works from the one hour to the other. */
const down = (fromHour: number, toHour: number) => (_audience: number, atMs: number) =>
  Number(atMs < fromHour * hour || atMs >= toHour * hour);
/** The first audiences never work. */
const broken = (first: number) => (audience: number) => Number(audience >= first);

const staggered = { isStaggered: true };
const twoDays = { lastsMs: 48 * hour };
const tenHours = { works: down(1, 11) };
const killed: Partial<OutageWorld> = { fails: () => 'killed', processes: undefined };
/** A lease lasts for 30 seconds and the deadline. */
const shortLease: Partial<OutageWorld> = { timeoutMs: 10 * second, fails: () => 'silent' };
const toAndFro = Array.from({ length: 28 }, (_, index) => ({
  atMs: (index + 1) * hour,
  byMs: (index % 2 === 0 ? 2 : -2) * hour,
}));

/** The worlds, in the order of the table. */
export const outageWorlds: readonly OutageWorld[] = [
  world('an outage of 10 h', 3, { lifeMs: 2 * hour, ...tenHours }),
  world('one of 5 audiences always fails', 5, { lifeMs: 6 * hour, works: broken(1) }),
  world('two of 8 always fail', 8, { lifeMs: 8 * hour, works: broken(2), ...twoDays }),
  world('two of 8 always fail, tokens end in turn', 8, {
    lifeMs: 8 * hour,
    works: broken(2),
    ...staggered,
    ...twoDays,
  }),
  world('two of 8 always time out after 300 s', 8, {
    lifeMs: 8 * hour,
    works: broken(2),
    fails: () => 'silent',
    timeoutMs: 300 * second,
    ...staggered,
    ...twoDays,
  }),
  world('12 of 13 always fail, the other 1 in 4 times', 13, {
    lifeMs: 8 * hour,
    works: (audience) => (audience < 12 ? 0 : 0.75),
    ...staggered,
    ...twoDays,
  }),
  world('12 of 13 always fail', 13, { lifeMs: 8 * hour, works: broken(12), ...twoDays }),
  world('five of 6 always fail, the other 1 in 2 times', 6, {
    lifeMs: 6 * hour,
    works: (audience) => (audience < 5 ? 0 : 0.5),
    ...twoDays,
  }),
  world('one of 5 fails 8 in 10 times', 5, {
    lifeMs: 4 * hour,
    works: (audience) => (audience < 1 ? 0.2 : 1),
  }),
  world('two of 8 fail 9 in 10 times', 8, {
    lifeMs: 8 * hour,
    works: (audience) => (audience < 2 ? 0.1 : 1),
    ...staggered,
    ...twoDays,
  }),
  world('five of 100 always fail, tokens of 40 h', 100, { lifeMs: 40 * hour, works: broken(5), ...staggered }),
  world('40 audiences, an outage of 6 h by time-outs', 40, {
    lifeMs: 30 * hour,
    works: down(1, 7),
    fails: () => 'silent',
    ...staggered,
  }),
  world('100 audiences without a token, an outage of 2 h by time-outs', 100, {
    lifeMs: 40 * hour,
    works: down(0, 2),
    fails: () => 'silent',
  }),
  world('ten processes are killed in each request for 10 h', 1, { lifeMs: hour, works: down(1, 11), ...killed }),
  world('the processes of 10 of 12 are killed for 11 h', 12, {
    lifeMs: 20 * hour,
    works: (audience, atMs) => Number(audience >= 10 || atMs > 11 * hour),
    ...killed,
  }),
  world('processes stand still for 100 s, an outage of 10 h', 1, {
    lifeMs: 6 * hour,
    ...tenHours,
    ...shortLease,
    standsStillMs: 100 * second,
  }),
  world('processes stand still for 300 s, an outage of 10 h', 3, {
    lifeMs: 6 * hour,
    ...tenHours,
    ...shortLease,
    standsStillMs: 300 * second,
  }),
  world('processes stand still for 60 s, no outage', 3, {
    lifeMs: 8 * hour,
    works: () => 1,
    ...shortLease,
    standsStillMs: 60 * second,
  }),
  world('10 an hour and 50 a day, an outage of 10 h', 3, { lifeMs: 4 * hour, windows: hourAndDay, ...tenHours }),
  world('10 an hour and 50 a day, two of 6 always fail', 6, {
    lifeMs: 12 * hour,
    windows: hourAndDay,
    works: broken(2),
    ...staggered,
    ...twoDays,
  }),
  world('10 an hour and 50 a day, one of 4 always fails', 4, {
    lifeMs: 8 * hour,
    windows: hourAndDay,
    works: broken(1),
    ...staggered,
    ...twoDays,
  }),
  world('a new record, an outage of 5 h', 2, {
    lifeMs: 6 * hour,
    isYoung: true,
    works: down(0, 5),
  }),
  world("the store's clock 6 h ahead for 3 h of an outage of 10 h", 3, {
    lifeMs: 2 * hour,
    ...tenHours,
    clockSteps: [
      { atMs: 3 * hour, byMs: 6 * hour },
      { atMs: 6 * hour, byMs: -6 * hour },
    ],
  }),
  world("the store's clock 2 h to and fro, two of 8 always fail", 8, {
    lifeMs: 8 * hour,
    works: broken(2),
    clockSteps: toAndFro,
    ...staggered,
  }),
  world('one of 20 is refused', 20, {
    lifeMs: 12 * hour,
    works: broken(1),
    fails: () => 'refused',
    ...staggered,
  }),
  world('three of 20 are refused', 20, {
    lifeMs: 12 * hour,
    works: broken(3),
    fails: () => 'refused',
    ...staggered,
  }),
  world('one of 20 is refused, another always fails', 20, {
    lifeMs: 12 * hour,
    works: broken(2),
    fails: (audience) => (audience === 0 ? 'refused' : 'failed'),
    ...staggered,
  }),
  world('no connection for 10 h', 5, { lifeMs: 8 * hour, ...tenHours, fails: () => 'unreachable' }),
  world('every second request fails', 4, { lifeMs: 4 * hour, works: () => 0.5 }),
  world('100 processes of 100 audiences are killed for 1 h', 100, {
    lifeMs: 40 * hour,
    works: down(0, 1),
    ...killed,
  }),
  world('30 audiences, an outage of 10 h', 30, {
    lifeMs: 12 * hour,
    works: down(2, 12),
    ...staggered,
  }),
  world('30 audiences, an outage of 30 h', 30, {
    lifeMs: 12 * hour,
    works: down(2, 32),
    lastsMs: 40 * hour,
    ...staggered,
  }),
  world('three of 12 fail for 10 minutes of each hour', 12, {
    lifeMs: 6 * hour,
    works: (audience, atMs) => Number(audience >= 3 || atMs % hour > 10 * minute),
    ...staggered,
    ...twoDays,
  }),
  world('a replicated store, two of 8 always fail', 8, {
    lifeMs: 12 * hour,
    works: broken(2),
    durability: 'replicated',
    ...staggered,
    ...twoDays,
  }),
];
