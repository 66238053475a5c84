import type { Time } from './scene.ts';
import type { SentRequest, Sights } from './sights.ts';

/** The orders to try again. Each allows one request to ignore what holds the fleet up. */
export interface Orders {
  readonly sights: Partial<Sights>;
  /** True if an order allows this request. It is used up then. */
  allow(request: SentRequest): boolean;
}

/** An order is for the next 15 minutes, and its last write may come late. */
const openForMs = 35 * 60_000;
/** A request that is sent so long after an order was reserved after it. */
const sentWithinMs = 12_000;

/** Remembers the orders of a run. */
export function createOrders(world: Time): Orders {
  /** Those that no request has taken, with the instant from which the next request takes them. */
  const orders = new Map<object, { readonly at: number; takenFrom: number }>();
  const allowed = new WeakSet<SentRequest>();

  function take(request: SentRequest, from: (takenFrom: number) => boolean): void {
    for (const [order, { at }] of orders) if (at < world.now - openForMs) orders.delete(order);
    const [order] = [...orders].find(([, { takenFrom }]) => from(takenFrom)) ?? [];
    if (order && orders.delete(order)) allowed.add(request);
  }

  return {
    allow(request) {
      if (!allowed.has(request)) take(request, () => true);
      return allowed.has(request);
    },
    sights: {
      retryOrdered(order) {
        orders.set(order, { at: world.now, takenFrom: Number.POSITIVE_INFINITY });
      },
      retryTold(order, hasEffect) {
        const known = orders.get(order);
        if (known) known.takenFrom = world.now + sentWithinMs;
        if (!hasEffect) orders.delete(order);
      },
      sending(request) {
        if (request.audience !== undefined) take(request, (takenFrom) => takenFrom < world.now);
      },
    },
  };
}
