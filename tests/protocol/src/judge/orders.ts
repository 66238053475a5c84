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

/** Remembers the orders of a run. */
export function createOrders(world: Time): Orders {
  let orders: readonly number[] = [];
  const allowed = new WeakSet<SentRequest>();

  return {
    allow(request) {
      if (allowed.has(request)) return true;
      orders = orders.filter((at) => at > world.now - openForMs);
      if (orders.length === 0) return false;
      orders = orders.slice(1);
      allowed.add(request);
      return true;
    },
    sights: {
      retryOrdered() {
        orders = [...orders, world.now];
      },
    },
  };
}
