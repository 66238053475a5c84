import type { Attributes, BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { Hold, ServiceAuth, Usage } from '@service-auth/core';

type Auth = Pick<ServiceAuth, 'getUsage' | 'peekToken'>;

// The SDK repeats the last value of what is not observed any more, so each gauge has a value for
// the usual state, too.
const holdKinds = Object.keys({
  backoff: true,
  credentials: true,
  deaths: true,
  rate_limited: true,
  rejections: true,
  renewal: true,
} satisfies Record<Hold['kind'], true>);

/**
 * Stands for a budget that lasts: the longest window. JSON has no infinite number, and a collector
 * refuses the whole batch that has one.
 */
const lastsSeconds = 31 * 86_400;

/** A collection of metrics waits no longer for a store. */
const readWithinMs = 2_000;

/**
 * Observes the budget of the fleet and the token of this process at each collection. Returns a
 * function that ends it.
 */
export function observeBudget(auth: Auth, meter: Meter, attributes: Attributes): () => void {
  const gauges = gaugesOf(meter);
  const observables = Object.values(gauges);
  let recordId: string | undefined;
  const observe = async (result: BatchObservableResult): Promise<void> => {
    const add = (gauge: Observable, value: number, own: Attributes = {}) =>
      result.observe(gauge, value, { ...attributes, ...own });
    const now = Date.now();
    const token = auth.peekToken();
    add(gauges.expiresIn, token ? secondsUntil(token.expiresAt, now) : 0);
    const usage = await readUsage(auth);
    if (!usage) return;
    observeUsage(usage, gauges, now, add);
    if (recordId !== undefined && usage.recordId !== recordId) add(gauges.record, 0, { record: recordId });
    recordId = usage.recordId;
    if (recordId !== undefined) add(gauges.record, 1, { record: recordId });
  };
  meter.addBatchObservableCallback(observe, observables);
  return () => meter.removeBatchObservableCallback(observe, observables);
}

/** Reads the record. Undefined: the store did not answer. The event `store_failed` reports that. */
async function readUsage(auth: Auth): Promise<Usage | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, readWithinMs, undefined);
    // In a browser it is a number. The last collection of a process must not keep it running.
    (timer as { unref?: () => void }).unref?.();
  });
  try {
    return await Promise.race([auth.getUsage(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

type Gauges = ReturnType<typeof gaugesOf>;

function gaugesOf(meter: Meter) {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(`service_auth.${name}`, { unit, description });
  return {
    limit: gauge('budget.limit', '{token}', 'The tokens of a window as agreed with the provider'),
    usage: gauge('budget.usage', '{token}', 'The tokens of a window that are issued, pending, left or kept back'),
    available: gauge('budget.available', '{token}', 'The tokens that callers can have now, by purpose'),
    spentIn: gauge(
      'budget.spent_in',
      's',
      'The time until the budget is spent at the present pace; 31 days if it lasts',
    ),
    refusedFor: gauge('budget.refused_for', 's', 'The time until a caller without a token is served again, or 0'),
    foreign: gauge(
      'budget.foreign',
      '{token}',
      'The tokens that the provider counts and the record does not know, or 0',
    ),
    hold: gauge('hold.remaining', 's', 'The time for which the fleet still sends no token request, by kind'),
    expiresIn: gauge('token.expires_in', 's', 'The life that the token of this process has left, or 0'),
    storeAhead: gauge('store.clock.offset', 's', 'The lead of the clock of the store over that of this machine'),
    record: gauge('record.info', '', 'Is 1 for the record that this process counts in, and 0 for a former one'),
  };
}

function observeUsage(
  usage: Usage,
  gauges: Gauges,
  now: number,
  add: (gauge: Observable, value: number, own?: Attributes) => void,
): void {
  for (const { windowMs, tokens, usable, used, pending, remaining } of usage.windows) {
    const window = { window: windowName(windowMs) };
    add(gauges.limit, tokens, window);
    const states = { issued: used - pending, pending, left: remaining, kept_back: Math.max(0, tokens - usable) };
    for (const [state, count] of Object.entries(states)) {
      add(gauges.usage, count, { ...window, state });
    }
  }
  for (const [purpose, count] of Object.entries(usage.available)) {
    add(gauges.available, count, { reason: purpose });
  }
  for (const kind of holdKinds) {
    const ends = usage.holds.filter((hold) => hold.kind === kind).map(({ until }) => secondsUntil(until, now));
    add(gauges.hold, Math.max(0, ...ends), { hold: kind });
  }
  add(gauges.spentIn, usage.spentAt === undefined ? lastsSeconds : secondsUntil(usage.spentAt, now));
  add(gauges.refusedFor, usage.refusedUntil === undefined ? 0 : secondsUntil(usage.refusedUntil, now));
  add(gauges.foreign, usage.foreign ?? 0);
  add(gauges.storeAhead, usage.storeAheadMs / 1_000);
}

function secondsUntil(at: number, now: number): number {
  return Math.max(0, (at - now) / 1_000);
}

/** The length of a window in the largest unit that fits: `24h`, `90m`, `45s`. */
function windowName(windowMs: number): string {
  const seconds = windowMs / 1_000;
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
