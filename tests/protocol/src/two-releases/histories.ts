import assert from 'node:assert/strict';
import { isServiceAuthError } from '@service-auth/core';
import type { CreateServiceAuth } from '../parts.ts';
import { createPlace, type Member, type Parts, type Place } from './place.ts';
import { loadReleases, type Releases } from './releases.ts';

/** The parts of a record that these histories look at. */
interface Wire {
  readonly form: number;
  readonly spent: readonly Readonly<Record<string, unknown>>[];
}

const json = (record: string): Wire => JSON.parse(record.slice(record.indexOf('{')));
const failsWith = (code: string) => (error: unknown) => isServiceAuthError(error) && error.code === code;

/** A fleet whose processes are replaced one by one, and what the record must count. */
class Fleet {
  readonly place: Place;
  counted = 0;
  #members: Member[] = [];
  #started = 0;

  constructor(place: Place, release: CreateServiceAuth) {
    this.place = place;
    this.#members = Array.from({ length: 3 }, () => this.#start(release));
  }

  #start(release: CreateServiceAuth): Member {
    this.#started += 1;
    return this.place.start(`process ${this.#started}`, release);
  }

  /** Everybody gets tokens, and says the same of what was spent. */
  async works(tokens = 1): Promise<void> {
    for (const member of this.#members) await this.spends(member, tokens);
    await this.agrees();
  }

  async spends(member: Member, tokens: number): Promise<void> {
    await member.spend(tokens);
    this.counted += tokens * ((await this.form()) > 4 ? 2 : 1);
  }

  async agrees(): Promise<void> {
    const [first, ...others] = await Promise.all(this.#members.map((member) => member.said()));
    for (const other of others) assert.deepEqual(other, first);
    assert.equal(first?.used, this.counted);
  }

  /** Replaces all processes by those of another release, one after the other. */
  async rollsOut(release: CreateServiceAuth): Promise<void> {
    for (let at = 0; at < this.#members.length; at++) {
      await this.#members[at]?.client.close();
      this.#members[at] = this.#start(release);
      await this.works();
    }
  }

  /** Replaces one process. */
  async joins(release: CreateServiceAuth): Promise<Member> {
    const member = this.#start(release);
    this.#members = [...this.#members.slice(1), member];
    await this.works();
    return member;
  }

  async form(): Promise<number> {
    return json(await this.place.record()).form;
  }

  async rows(): Promise<Wire['spent']> {
    return json(await this.place.record()).spent;
  }
}

/**
 * Resolves with why a history is not as it must be; an empty text: it is. `today`: the address of another build of today's core.
 */
export async function problemOf(history: string, parts: Parts, today?: string): Promise<string> {
  try {
    const core = today === undefined ? {} : await import(today);
    await histories[history]?.(await createPlace(parts), await loadReleases(core.createServiceAuth));
    return '';
  } catch (error) {
    return String((error as Error).stack);
  }
}

/** What releases do with one record. Each rejects if it is not so. */
export const histories: Readonly<Record<string, (place: Place, releases: Releases) => Promise<void>>> = {
  async 'a release with one more hint comes and goes'(place, { today, withHint }) {
    const fleet = new Fleet(place, today);
    await fleet.works(2);
    const next = await fleet.joins(withHint);
    await fleet.spends(next, 2);
    const hinted = async () => (await fleet.rows()).filter(({ region }) => region === 'north').length;
    // Those of the process that wrote last.
    assert.equal(await hinted(), 3);
    await fleet.works();
    await fleet.rollsOut(withHint);
    assert.equal(await hinted(), 7);
    await fleet.rollsOut(today);
    assert.equal(await hinted(), 0);
    place.fail();
    await assert.rejects(place.start('last', withHint).client.getToken(), failsWith('ERR_TOKEN_ENDPOINT'));
    fleet.counted += 1;
    await fleet.agrees();
  },

  async 'two releases change what counts, and are taken back'(place, { today, first, second }) {
    const fleet = new Fleet(place, today);
    await fleet.works(3);
    await fleet.rollsOut(first);
    assert.equal(await fleet.form(), 4);
    await fleet.rollsOut(today);
    await fleet.rollsOut(first);
    assert.equal(await fleet.form(), 4);
    await fleet.rollsOut(second);
    assert.equal(await fleet.form(), 5);
    await fleet.rollsOut(first);
    assert.equal(await fleet.form(), 5);
    await fleet.rollsOut(second);
    const heavy = (await fleet.rows()).filter(({ weight }) => weight === 2).length;
    assert.equal(fleet.counted, place.requests + heavy);
    place.fail();
    await assert.rejects(place.start('last', first).client.getToken(), failsWith('ERR_TOKEN_ENDPOINT'));
    fleet.counted += 2;
    await fleet.agrees();
  },

  async 'both count the same when most tokens are summed up'(place, { first, second }) {
    const fleet = new Fleet(place, first);
    await fleet.works(5);
    await fleet.joins(second);
    await fleet.works(70);
    const rows = await fleet.rows();
    assert(rows.length < 220 && rows.some(({ reason, tokens }) => reason === 'several' && Number(tokens) > 10));
  },

  async 'the first release puts back a record that the store lost'(place, { first, second }) {
    const fleet = new Fleet(place, first);
    await fleet.works();
    await fleet.joins(second);
    await fleet.rollsOut(first);
    await place.wipe();
    await fleet.works();
    assert.equal(await fleet.form(), 5);
  },

  async 'the first release unites a record that came back with what it remembers'(place, { first, second }) {
    const fleet = new Fleet(place, first);
    await fleet.works();
    const older = await place.record();
    await fleet.joins(second);
    await fleet.rollsOut(first);
    await place.replace(older);
    assert.equal(await fleet.form(), 4);
    await fleet.works();
    assert.equal(await fleet.form(), 5);
  },

  async 'a release that does not know the number leaves the record alone'(place, { today, first, second }) {
    const fleet = new Fleet(place, first);
    const before = place.start('before', today);
    const token = await before.client.getToken();
    fleet.counted += 1;
    await fleet.works();
    await fleet.joins(second);
    const [record, { requests }] = [await place.record(), place];
    for (const member of [before, place.start('after', today)]) {
      await assert.rejects(member.spend(1), failsWith('ERR_STORE_INTEGRITY'));
      await assert.rejects(member.said(), failsWith('ERR_STORE_INTEGRITY'));
    }
    // Who has a token goes on with it.
    assert.equal((await before.client.getToken()).id, token.id);
    assert.deepEqual([await place.record(), place.requests], [record, requests]);
    await fleet.works();
  },
};
