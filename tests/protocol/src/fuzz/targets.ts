import assert from 'node:assert/strict';
import { createServiceAuth, fetchTransport, isServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { canariesIn, secretCanary } from '@service-auth/test-tools/canaries';
import fc from 'fast-check';
import { optionNames } from '../../../../packages/core/src/client/resolve-options.ts';
import { readTokenResponse } from '../../../../packages/core/src/endpoint/token-response.ts';
import { urlScope } from '../../../../packages/core/src/endpoint/url-scope.ts';
import { decodeRecord, encodeRecord } from '../../../../packages/core/src/ledger/codec.ts';
import { roomsIn } from '../../../../packages/core/src/ledger/count.ts';
import { decide, withReservation, withReset } from '../../../../packages/core/src/ledger/decide.ts';
import { present, united } from '../../../../packages/core/src/ledger/present.ts';
import { type LedgerRecord, resetUpTo } from '../../../../packages/core/src/ledger/record.ts';
import { settle } from '../../../../packages/core/src/ledger/settle.ts';
import { day } from '../judge/units.ts';
import { createRandom } from '../random.ts';
import { attempt, options, storeWith } from './client.ts';
import { bases, bodies, jsonTrouble, jwt, payloads, quotas, resets, retryAfters, urls, urlTrouble } from './corpus.ts';
import { errorOf, failures, wasNeverSent } from './failures.ts';
import { liesWithin } from './lies-within.ts';
import { mutated } from './mutated.ts';
import { begun, drawnAnswer, drawnQuery, forged, grownRecord, jsonOf, limits, seenBefore } from './records.ts';
import { rewritten } from './rewritten.ts';
import { anything, type Target, target } from './target.ts';

const reasons = ['empty', 'not_json', 'access_token', 'token_type', 'expires_in'];
const contentTypes = fc.constantFrom('application/json', 'application/json; charset=utf-8', 'text/html', '', '\0');
const stored = Array.from({ length: 50 }, (_, seed) => grownRecord(seed));
const storedJson = stored.map(({ text }) => jsonOf(text));
const storedTexts = mutated(
  stored.map(({ text }) => text),
  jsonTrouble,
);
const headers = ['retry-after', 'ratelimit', 'ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset'];
const times = mutated([...retryAfters, ...resets, '"default";r=0;t=30'], ['9', '-', ',', ':', 'GMT', ';', '"', '\\']);
const damagedBody = fc.oneof(
  { weight: 4, arbitrary: mutated(bodies, jsonTrouble) },
  { weight: 1, arbitrary: fc.json() },
);
const statuses = fc.oneof(
  fc.constantFrom(200, 201, 302, 400, 401, 403, 404, 408, 421, 425, 429, 500, 502, 503),
  fc.integer({ min: 100, max: 999 }),
);

/** Returns the number of tokens that count in all enforced terms together, the number of terms, and true if all of them have room. */
function rooms(record: LedgerRecord, now: number) {
  const found = roomsIn({ record, now, limits }, 'reset');
  const counts = found.reduce((sum, { used }) => sum + used, 0);
  return { counts, terms: found.length, hasRoom: found.every(({ used, term }) => used < term.usable) };
}

/** The endpoint said for how long to wait. */
function assertPauses(error: unknown, askedAt: number): void {
  assert(isServiceAuthError(error) && error.code === 'ERR_RATE_LIMITED');
  const pauseMs = error.retryAt - askedAt;
  assert(pauseMs >= 1_000 && pauseMs <= 25 * 3_600_000);
}

export const targets: Readonly<Record<string, Target>> = {
  'token responses': target(fc.tuple(damagedBody, contentTypes), ([body, contentType]) => {
    const token = readTokenResponse(body, contentType);
    if (typeof token === 'string') assert(reasons.includes(token));
    else {
      assert.match(token.value, /^[\x21-\x7e]{1,16384}$/);
      assert(Number.isInteger(token.lifetimeMs / 1_000) && token.lifetimeMs >= 1_000 && token.lifetimeMs <= 31 * day);
    }
  }),

  JWTs: target(
    fc.tuple(mutated(payloads, jsonTrouble), mutated(['a.b.c'], ['.', '=', '-', '_', '+'])),
    ([payload, rest]) => {
      for (const access_token of [jwt(payload), jwt(payload) + rest, rest + jwt(payload)]) {
        const stated = readTokenResponse(
          JSON.stringify({ access_token, token_type: 'Bearer', expires_in: 7_200 }),
          'application/json',
        );
        const unstated = readTokenResponse(JSON.stringify({ access_token, token_type: 'Bearer' }), 'application/json');
        if (typeof stated === 'string' || typeof unstated === 'string') assert.equal(stated, 'access_token');
        else {
          // The claims of a token can only shorten its life.
          assert(stated.lifetimeMs >= 60_000 && stated.lifetimeMs <= 7_200_000);
          assert(unstated.lifetimeMs >= 60_000 && unstated.lifetimeMs <= 31 * day);
        }
      }
    },
  ),

  'answers of the token endpoint': target(
    fc.record({
      status: statuses,
      body: damagedBody,
      contentType: contentTypes,
      retryAfter: mutated(retryAfters, ['9', '-', ',', ':']),
      arrives: fc.constantFrom('at once', 'later', 'never', 'in part'),
    }),
    async ({ status, body: text, contentType, retryAfter, arrives }) => {
      const headers = { 'content-type': contentType, 'retry-after': retryAfter, location: `https://${secretCanary}/` };
      const late: Record<string, () => Promise<string>> = {
        later: async () => text,
        never: () => new Promise(() => {}),
        'in part': () => Promise.reject(new Error(secretCanary)),
      };
      const transport = async () => ({ status, headers, body: late[arrives]?.() ?? text });
      const { error, used, requests } = await attempt({ transport });
      const success = status >= 200 && status < 300;
      const refused = status >= 300 && status < 500 && ![408, 425].includes(status);
      assert(success || error !== undefined);
      // A 2xx answer may have an error in the place of a token.
      const rejected =
        isServiceAuthError(error) &&
        (/^ERR_(CREDENTIALS_REJECTED|RATE_LIMITED)$/.test(error.code) ||
          (error.code === 'ERR_TOKEN_ENDPOINT' && !error.ambiguous));
      assert.equal(used, refused || rejected ? 0 : 1);
      assert.equal(requests, 1);
    },
  ),

  'headers that say when': target(fc.tuple(fc.constantFrom(...headers), times), async ([name, time]) => {
    const { error, askedAt } = await attempt({
      transport: async () => ({ status: 429, headers: { [name]: time }, body: '' }),
    });
    assertPauses(error, askedAt);
  }),

  'quota headers': target(
    fc.record({
      status: fc.constantFrom(200, 429),
      client: mutated(quotas, ['9', '-', ',', ';', '=']),
      organization: mutated(quotas, ['9', '-', ',', ';', '=']),
      reset: mutated(resets, ['9', '-']),
    }),
    async ({ status, client, organization, reset }) => {
      const headers = {
        'auth0-client-quota-limit': client,
        'auth0-organization-quota-limit': organization,
        'x-ratelimit-reset': reset,
      };
      const { error, used, askedAt } = await attempt({
        transport: async () => ({ status, headers, body: bodies[0] ?? '' }),
      });
      // They are advice: our own count stays as it is, and a caller gets a token.
      assert.equal(used, status === 200 ? 1 : 0);
      if (status === 200) assert.equal(error, undefined);
      else assertPauses(error, askedAt);
    },
  ),

  'failures of the transport': target(anything, async (reason) => {
    const { error, used } = await attempt({ transport: () => Promise.reject(reason) });
    assert(error !== undefined);
    assert(used === 0 || used === 1);
  }),

  'errors of connections': target(failures, async (failure) => {
    const { error, used } = await attempt({ transport: () => Promise.reject(errorOf(failure)) });
    assert(isServiceAuthError(error) && error.code === 'ERR_TOKEN_ENDPOINT');
    const free = wasNeverSent(failure);
    assert.deepEqual([error.ambiguous, used], free ? [false, 0] : [true, 1]);
  }),

  'answers of a wrong transport': target(anything, async (answer) => {
    const { error, used } = await attempt({ transport: async () => answer as never });
    assert(error !== undefined);
    assert.equal(used, 1);
  }),

  'answers of a wrong fetch': target(fc.tuple(anything, fc.boolean()), async ([answer, throws]) => {
    const fetch = () => {
      if (throws) throw answer;
      return Promise.resolve(answer);
    };
    const { error, used } = await attempt({ transport: fetchTransport({ fetch: fetch as never }) });
    assert(isServiceAuthError(error) && error.code === 'ERR_TOKEN_ENDPOINT');
    // A call that throws has sent nothing. After any other, nobody knows.
    assert.equal(used, throws ? 0 : 1);
  }),

  'answers of a wrong store': target(fc.tuple(anything, anything), async ([loaded, swapped]) => {
    const store = {
      durability: 'durable' as const,
      load: async () => loaded as never,
      swap: async () => swapped as never,
    };
    const { error, requests } = await attempt({ store });
    assert(error !== undefined);
    assert.equal(requests, 0);
  }),

  'client secrets': target(anything, async (secret) => {
    const { error } = await attempt({ clientSecret: (async () => secret) as never });
    const isWrong = isServiceAuthError(error) && error.code === 'ERR_CLIENT_SECRET';
    assert(error === undefined || isWrong || typeof secret === 'string');
  }),

  options: target(
    fc.oneof(
      anything,
      fc.record(
        Object.fromEntries(
          optionNames.map((name) => [name, fc.oneof({ weight: 4, arbitrary: fc.constant(options[name]) }, anything)]),
        ),
        { requiredKeys: [] },
      ),
    ),
    (given) => {
      try {
        createServiceAuth(given as ServiceAuthOptions);
      } catch (error) {
        assert(isServiceAuthError(error) && error.code === 'ERR_CONFIG' && error.problems.length > 0);
        assert.deepEqual(canariesIn(error), []);
      }
    },
  ),

  'addresses against covers': target(fc.tuple(fc.constantFrom(...bases), mutated(urls, urlTrouble)), ([base, url]) => {
    if (urlScope(new URL(base), 'https://auth.example.com/oauth/token')(url))
      assert(liesWithin(new URL(base), new URL(url)));
    else assert.notEqual(url, base);
  }),

  'stored records, damaged': target(storedTexts, (text) => {
    const record = decodeRecord(text);
    if (typeof record === 'string') assert(record === 'damaged' || record === 'unknown version');
    else assert(stored.some((known) => known.text === text));
  }),

  'stored records, forged': target(
    fc.tuple(
      fc.oneof(mutated(storedJson, jsonTrouble), rewritten(storedJson)),
      fc.nat(),
      fc.integer({ min: -10 * day, max: 10 * day }),
    ),
    ([json, seed, shiftMs]) => {
      const loaded = decodeRecord(forged(json));
      if (typeof loaded === 'string') return;
      const random = createRandom(`${seed}`);
      const known = grownRecord(seed % 50);
      const seen = random.chance(0.5) ? seenBefore(known, random) : undefined;
      const { record, now } = present(loaded, seen, begun + shiftMs, 'another record');
      const query = drawnQuery(random);
      const before = rooms(record, now);
      const decision = decide({ record, now, limits }, query);
      if (decision.kind === 'reserve') {
        // No record talks core into a token above the limit.
        const after = rooms(decision.record, now);
        assert(before.hasRoom && after.counts === before.counts + before.terms);
        // What is reserved once is not reserved again, and a reset that the record had lost is in it.
        assert.deepEqual(decide({ record: decision.record, now, limits }, query), decision);
        const remembered = now < query.resetUpTo + 31 * day ? query.resetUpTo : 0;
        assert(resetUpTo(decision.record, query.name) >= remembered);
      }
      // The store may lose the reservation before the outcome is known.
      const { reserved } = withReservation(record, now, query, query.reason);
      const from = random.chance(0.5) && decision.kind === 'reserve' ? decision.record : record;
      const settled = settle(from, now, reserved, drawnAnswer(random, reserved, now));
      const text = encodeRecord(withReset(united(settled, known.record, now), query.name, now));
      assert.notEqual(decodeRecord(text), 'unknown version');
    },
  ),

  'clients over damaged records': target(storedTexts, async (text) => {
    const { store, swaps } = storeWith(text);
    const { error, requests } = await attempt({ store });
    if (typeof decodeRecord(text) !== 'string') return;
    assert(isServiceAuthError(error) && error.code === 'ERR_STORE_INTEGRITY');
    assert.equal(requests + swaps(), 0);
  }),
};
