import { setTimeout as delay } from 'node:timers/promises';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import { startTestService } from '@service-auth/testing';
import { createRandom } from '../../protocol/src/random.ts';
import { changed, customers, greedy, lifetimeMs } from './customers.ts';
import { causeFaults, type FaultCounts, unreliableEndpoint } from './faults.ts';
import { startFleet } from './fleet.ts';
import { startJudge } from './judge.ts';
import type { Place } from './places.ts';
import { openStore, type StoreKind } from './stores.ts';

export interface ChaosOptions {
  /** Closed in the end. */
  readonly place: Place;
  readonly seed: number;
  readonly durationMs: number;
  /** The time after the last fault within which every process must be served: a busy machine needs more than the usual few seconds. Default 60,000. */
  readonly recoverWithinMs?: number;
  /** With a store that writes over whatever is there, which must be noticed. */
  readonly blind?: boolean;
}

export interface ChaosFigures extends FaultCounts {
  readonly kind: StoreKind;
  readonly processStarts: number;
  readonly tokenRequests: number;
  /** The number that the service itself counted. */
  readonly tokensIssued: number;
  /** The most that each of the greedy customers was issued in any of its windows. */
  readonly largest: readonly number[];
  /** Processes that were killed to be given another agreement. */
  readonly rolledOut: number;
  /** The most tokens in a window after a process with the lower limit had read the record, for as long as its limit holds. */
  readonly largestAfterChange: number;
  readonly comparisons: number;
  /** The time from the last fault until the last process was served. */
  readonly servedAfterMs: number;
  /** The violated properties, as sentences. */
  readonly violations: readonly string[];
}

const processes = 8;
/** A process that is stopped for up to 8 seconds may send a request that it reserved before, for up to 10 seconds after. */
const reservedBeforeMs = 12_000;

/** Lets a fleet get along over one store while everything fails, then demands that every process is served. */
export async function runChaos(options: ChaosOptions): Promise<ChaosFigures> {
  const { place, seed, durationMs, recoverWithinMs = 60_000, blind = false } = options;
  const random = createRandom(`${seed}`);
  const endings: (() => Promise<unknown>)[] = [];
  try {
    endings.push(place.close);
    const { kind, address, server } = place;
    const relay = server && (await startRelay(server.port));
    if (relay) endings.push(relay.close);
    const relayed = server && relay ? address.replace(`:${server.port}`, `:${relay.port}`) : address;

    // It enforces no limit, and it counts.
    const issuanceLimit = { tokens: 1_000_000 };
    const service = await startTestService({ clients: customers, issuanceLimit, lifetimeMs });
    endings.push(service.close);
    service.tokenEndpoint.always(unreliableEndpoint(createRandom(`endpoint ${seed}`)));

    const judged = await openStore(kind, address, 0);
    endings.push(judged.close);
    const judge = startJudge(service, judged.store);
    const serviceUrl = service.url;
    let isChanged = false;
    const fleet = startFleet(processes, (start) => {
      const instance = `process ${start}`;
      return { kind, address: relayed, serviceUrl, instance, seed: seed * 1_000 + start, isChanged, blind };
    });
    endings.push(fleet.close);

    await fleet.ready;
    let rolledOut = 0;
    /** Gives all processes the other agreement, or the first one again: one after another, within a tenth of the run. */
    async function rollOut(afterMs: number, toChanged: boolean): Promise<void> {
      await delay(afterMs, undefined, { ref: false });
      isChanged = toChanged;
      for (let index = 0; index < processes; index += 1) {
        fleet.kill(index);
        rolledOut += 1;
        await delay(durationMs / 10 / processes, undefined, { ref: false });
      }
    }
    const rollouts = [rollOut(durationMs / 8, true), rollOut(durationMs / 2, false)];
    const counts = await causeFaults({ fleet, server, relay }, durationMs, random);
    await Promise.all(rollouts);
    service.tokenEndpoint.clear();
    const calmAt = performance.now();
    const served = fleet.serveEach().then(() => true);
    const allServed = await Promise.race([served, delay(recoverWithinMs, false, { ref: false })]);
    const denials = fleet.denials();
    const servedAfterMs = Math.round(performance.now() - calmAt);
    // A fleet that backs off does not come near a limit. Without faults it does, and then the limit holds or not.
    const reached = () => greedy.some((customer) => judge.largestCount(customer) > customer.issuanceLimit.tokens / 2);
    while (!reached() && performance.now() - calmAt < recoverWithinMs) await delay(100);
    await fleet.close();
    await judge.close();

    const leaked = service.findSecrets(fleet.complaints.join('\n'));
    const from = (fleet.declaredAt ?? Number.POSITIVE_INFINITY) + reservedBeforeMs;
    const largestAfterChange = judge.largestCount(changed, from);
    const violations = [...judge.violations, ...fleet.complaints, ...leaked.map((kind) => `a ${kind} was printed`)];
    if (largestAfterChange > changed.issuanceLimit.tokens)
      violations.push(`${largestAfterChange} tokens in a window after a process declared the lower limit`);
    if (!allServed) {
      violations.push(`not every process had a token ${recoverWithinMs} ms after the last fault`, ...denials);
    }
    if (!reached())
      violations.push(`no customer was issued half of its limit ${recoverWithinMs} ms after the last fault`);
    const { tokenRequests, issued: tokensIssued } = service.counts;
    return {
      ...{ kind, processStarts: fleet.starts, ...counts, tokenRequests, tokensIssued },
      ...{ rolledOut, largestAfterChange },
      ...{ largest: greedy.map(judge.largestCount), comparisons: judge.comparisons, servedAfterMs, violations },
    };
  } finally {
    for (const end of endings.reverse()) await end();
  }
}
