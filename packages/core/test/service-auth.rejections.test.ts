import { describe, expect, test } from 'vitest';
import { sendWithToken } from '../src/http/index.ts';
import type { ServiceAuth } from '../src/index.ts';
import { type Bed, createBed, hour, minute } from './support/bed.ts';

const usable = 120;

/** An API, by the token that a request has and by the route. */
type Accepts = (token: { readonly ageMs: number; readonly value: string }, route: string) => boolean;

/** Sends requests to an API for a day, one to each route every so often. Returns the answers of each route that were 401. */
async function aDay(
  { clock, endpoint }: Pick<Bed, 'clock' | 'endpoint'>,
  clients: Readonly<Record<string, ServiceAuth>>,
  accepts: Accepts,
  everyMs = 5 * minute,
): Promise<{ readonly rejected: Readonly<Record<string, number>>; readonly tokens: number }> {
  const rejected: Record<string, number> = {};
  const begun = clock.monotonic();
  while (clock.monotonic() < begun + 24 * hour) {
    for (const [route, auth] of Object.entries(clients)) {
      const status = await clock.until(
        sendWithToken(auth, {
          send: async ({ value, issuedAt }) => (accepts({ value, ageMs: clock.now() - issuedAt }, route) ? 200 : 401),
          isRejected: (answer) => answer === 401,
          canResend: () => true,
          discard: () => {},
        }),
      );
      rejected[route] = (rejected[route] ?? 0) + Number(status === 401);
    }
    await clock.advance(everyMs);
  }
  return { rejected, tokens: endpoint.issued };
}

describe('an API that answers 401', () => {
  test('to every request costs no more than a third of the usable tokens a day', async () => {
    const bed = createBed('process');
    const { tokens, rejected } = await aDay(bed, { orders: bed.client() }, () => false);
    expect(rejected['orders']).toBe(24 * 12);
    expect(tokens).toBeLessThanOrEqual(usable / 3 + 1);
    expect(tokens).toBeGreaterThan(10);
  });

  test('on one route leaves the others alone', async () => {
    const bed = createBed('process');
    const auth = bed.client();
    const { tokens, rejected } = await aDay(bed, { orders: auth, admin: auth }, (_, route) => route === 'orders');
    expect(rejected['orders']).toBe(0);
    // The first token, and the renewal of the last one ahead of its expiry, are none of these.
    expect(tokens).toBeLessThanOrEqual(usable / 3 + 2);
  });

  test('to tokens that are an hour old, though the endpoint says a day, gets another one each time', async () => {
    const bed = createBed('process');
    const { tokens, rejected } = await aDay(bed, { orders: bed.client() }, ({ ageMs }) => ageMs < hour);
    expect(rejected['orders']).toBe(0);
    expect(tokens).toBe(24);
  });

  test('for a minute in each quarter of an hour costs a third of the usable tokens at most, and works in between', async () => {
    const bed = createBed('process');
    const { clock } = bed;
    const flaps = () => Math.floor(clock.now() / minute) % 15 === 0;
    const { tokens, rejected } = await aDay(bed, { orders: bed.client() }, () => !flaps(), minute);
    expect(rejected['orders']).toBeLessThanOrEqual(24 * 4);
    expect(tokens).toBeLessThanOrEqual(usable / 3 + 1);
  });

  test('for one of ten audiences costs the others nothing', async () => {
    const bed = createBed('process');
    const names = Array.from({ length: 10 }, (_, index) => `api-${index}`);
    const clients = Object.fromEntries(names.map((audience) => [audience, bed.client({ audience })]));
    const { tokens, rejected } = await aDay(bed, clients, (_, route) => route !== 'api-0');
    for (const name of names.slice(1)) expect(rejected[name]).toBe(0);
    expect(tokens).toBeLessThanOrEqual(2 * names.length + usable / 3);
    expect(bed.eventsOf('issuance_refused')).toEqual([]);
  });
});
