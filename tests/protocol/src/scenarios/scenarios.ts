import { hour, minute } from '../judge/units.ts';
import type { CreateServiceAuth } from '../parts.ts';
import { createBed } from './bed.ts';

/** A course of events that chance does not find, and what must be true of it. Resolves with what is not. */
export type Scenario = (createServiceAuth: CreateServiceAuth) => Promise<string | undefined>;

/** The record lists the newest 150 tokens one by one, and counts older ones together. */
const many = { issuanceLimit: { tokens: 2_000, reserve: 0 } };
const usual = { issuanceLimit: { tokens: 150 } };
/** A durable store may lose a fifth of them. */
const afterALoss = 30;

/** One process goes on from the common past, the store goes back there, and another process goes on. Then the first one looks again. */
function forked(past: number, onOneSide: number, onTheOther: number): Scenario {
  return async (createServiceAuth) => {
    const { store, start, spend, pass } = createBed(createServiceAuth, many);
    const one = start('one');
    await spend(one, past);
    const common = store.kept('left');
    await spend(one, onOneSide);
    const before = (await one.getUsage()).used;
    if (common) store.replace(common.record);
    const other = start('other');
    await spend(other, onTheOther);
    const beside = (await other.getUsage()).used;
    await spend(one, 1);
    await pass(minute);
    const joined = (await start('reader').getUsage()).used;
    // Of the newest tokens each side is known one by one, so both are counted.
    const least = before + onTheOther;
    if (before !== past + onOneSide || beside !== past + onTheOther)
      return `${before} and ${beside} before they were joined`;
    return joined >= least + 1 ? undefined : `${joined} of ${least + 1} are counted`;
  };
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  'two records that forked a while ago count both sides when they are joined': forked(200, 30, 20),

  async 'a record that went back allows few tokens for as long as the lost ones may count'(createServiceAuth) {
    const { store, start, spend, pass } = createBed(createServiceAuth, usual);
    const one = start('one');
    await spend(one, 1);
    await pass(28 * hour);
    const common = store.kept('left');
    await spend(one, 1);
    // Nobody who lives knows of these.
    await spend(start('other'), 60);
    if (common) store.replace(common.record);
    const first = await spend(one, 100);
    await pass(12 * hour);
    const later = await spend(one, 100);
    if (first === 0 || first + later > afterALoss) return `${first} and then ${later} after the loss`;
    await pass(28 * hour);
    const last = await spend(start('third'), 100);
    return last > afterALoss ? undefined : `only ${last} when the lost ones count no more`;
  },

  async 'a lost record allows few tokens, also when somebody who remembers an older one joins'(createServiceAuth) {
    const { store, start, spend, pass } = createBed(createServiceAuth, usual);
    const one = start('one');
    await spend(one, 1);
    await pass(28 * hour);
    await spend(one, 1);
    await spend(start('other'), 60);
    store.wipe();
    const anew = await spend(start('third'), 10);
    const joined = await spend(one, 100);
    await pass(12 * hour);
    const later = await spend(start('fourth'), 100);
    const isRight = anew === 10 && joined > 0 && anew + joined + later <= afterALoss;
    return isRight ? undefined : `${anew}, ${joined} and ${later} after the loss`;
  },

  async 'a clock that was ahead and is put right takes no token away, and none counts for longer'(createServiceAuth) {
    const bed = createBed(createServiceAuth, { ...many, storeAheadMs: 12 * hour });
    const { store, start, spend, pass } = bed;
    const one = start('one');
    await spend(one, 200);
    store.stepClock(-12 * hour);
    for (let hours = 0; hours < 24; hours++) {
      for (const [who, process] of [
        ['who knew it', one],
        ['who did not', start('reader')],
      ] as const) {
        const { used } = await process.getUsage();
        if (used < bed.issuedInADay())
          return `${used} of ${bed.issuedInADay()} are counted after ${hours} h by somebody ${who}`;
      }
      await pass(hour);
    }
    await pass(4 * hour);
    const { used } = await start('last').getUsage();
    return used === 0 ? undefined : `${used} are counted after 28 h`;
  },

  async 'a wait that began on a clock that was ahead lasts an hour at most'(createServiceAuth) {
    const bed = createBed(createServiceAuth, { ...many, storeAheadMs: 5 * hour });
    const one = bed.start('one');
    await bed.spend(one, 2);
    bed.answer = { status: 429, headers: { 'retry-after': '1800' }, body: '' };
    if ((await bed.spend(one, 1)) !== 0) return 'a token of an endpoint that answers 429';
    bed.answer = undefined;
    bed.store.stepClock(-5 * hour);
    const other = bed.start('other');
    if ((await bed.spend(other, 1)) !== 0) return 'the endpoint said for how long to wait';
    await bed.pass(hour + minute);
    return (await bed.spend(other, 1)) === 1 ? undefined : 'no token after an hour';
  },

  async 'a clock that leaps forward frees no budget, whoever looks first'(createServiceAuth) {
    const { store, start, spend, pass, issuedInADay } = createBed(createServiceAuth, usual);
    const one = start('one');
    await spend(one, 1);
    await pass(28 * hour);
    await spend(one, 1);
    await pass(8 * hour);
    // By a process that ends then. The one that goes on knows by how much the clock leaps, but not what was written before.
    await spend(start('other'), 100);
    store.stepClock(6 * hour);
    let most = 0;
    for (let round = 0; round < 90; round++) {
      await spend(one, 8);
      most = Math.max(most, issuedInADay());
      await pass(hour / 4);
    }
    return most > 150 ? `${most} of 150 tokens in a day` : undefined;
  },
};
