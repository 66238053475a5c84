import { sentWithinMs } from './numbers.ts';
import type { Time } from './scene.ts';
import type { Sights } from './sights.ts';

/** The orders to try again. Each ends the pauses of the fleet when it is written, which may be late. */
export interface Orders {
  readonly sights: Partial<Sights>;
  /** Returns whether a pause may have ended just now, by an order that nobody knows to be written. */
  mayEndPauses(): boolean;
}

/** A process may stand still for so long before it writes an order. */
const writtenWithinMs = 35 * 60_000;

export function createOrders(world: Time): Orders {
  /** Until then each may have an effect that `getUsage()` does not show. */
  const orders = new Map<object, number>();
  return {
    mayEndPauses() {
      for (const [order, until] of orders) if (until < world.now) orders.delete(order);
      return orders.size > 0;
    },
    sights: {
      retryOrdered(order) {
        orders.set(order, world.now + writtenWithinMs);
      },
      retryTold(order, hasEffect) {
        if (hasEffect) orders.set(order, world.now + sentWithinMs);
        else orders.delete(order);
      },
    },
  };
}
