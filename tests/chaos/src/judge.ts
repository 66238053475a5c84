import { setTimeout as delay } from 'node:timers/promises';
import { createServiceAuth, type Store } from '@service-auth/core';
import type { TestService } from '@service-auth/testing';
import { type Customer, customers } from './customers.ts';

/** Compares what the service issued, by its own count, with the limit and with what the ledger says. */
export interface Judge {
  /** The violated properties, as sentences. */
  readonly violations: readonly string[];
  readonly comparisons: number;
  /** The most tokens that a customer was issued within any of its windows that begins at this time or later. */
  largestCount(customer: Customer, from?: number): number;
  /** Compares once more, which must succeed, and ends. */
  close(): Promise<void>;
}

/** Begins to compare, again and again. `store`: opened beside all faults. */
export function startJudge(service: TestService, store: Store): Judge {
  const violations: string[] = [];
  let comparisons = 0;
  let closed = false;

  const issuances = ({ clientId }: Customer) => service.issuances.filter((issued) => issued.clientId === clientId);

  /** The ledger must contain every token of the window that was issued by now, because each one was reserved before it was requested. */
  async function compare(customer: Customer): Promise<void> {
    const { clientId, clientSecret, audiences, issuanceLimit } = customer;
    const [audience = ''] = audiences;
    const before = issuances(customer);
    // A new one every time: it remembers nothing that it could put right.
    const auth = createServiceAuth({ authUrl: service.url, audience, clientId, clientSecret, issuanceLimit, store });
    const { used } = await auth.getUsage();
    // On a busy machine the answer takes a while, and tokens have left the window since.
    const issued = before.filter(({ at }) => at > Date.now() - issuanceLimit.windowMs).length;
    comparisons += 1;
    if (used < issued) violations.push(`the ledger of ${clientId} knows ${used} of ${issued} tokens that were issued`);
  }

  function largestCount(customer: Customer, from = 0): number {
    const times = issuances(customer).flatMap(({ at }) => (at >= from ? [at] : []));
    const { windowMs } = customer.issuanceLimit;
    return Math.max(0, ...times.map((end) => times.filter((at) => at <= end && at > end - windowMs).length));
  }

  async function compareAgainAndAgain(): Promise<void> {
    while (!closed) {
      // The store may be down, as it is meant to be.
      for (const customer of customers) await compare(customer).catch(() => {});
      await delay(100);
    }
  }

  const comparing = compareAgainAndAgain();
  return {
    violations,
    get comparisons() {
      return comparisons;
    },
    largestCount,
    async close() {
      closed = true;
      await comparing;
      for (const customer of customers) {
        await compare(customer);
        const { clientId, issuanceLimit } = customer;
        const largest = largestCount(customer);
        if (largest > issuanceLimit.tokens) violations.push(`${clientId} was issued ${largest} tokens in one window`);
      }
    },
  };
}
