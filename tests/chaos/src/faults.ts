import { setTimeout as delay } from 'node:timers/promises';
import type { Relay, RelayMode } from '@service-auth/test-tools/servers/relay';
import type { TestServer } from '@service-auth/test-tools/servers/server';
import type { ScriptedTokenAnswer } from '@service-auth/testing';
import type { Random } from '../../protocol/src/random.ts';
import type { Fleet } from './fleet.ts';

/** The targets of the faults. A file store has neither a server nor a relay. */
export interface Targets {
  readonly fleet: Fleet;
  readonly server: TestServer | undefined;
  readonly relay: Relay | undefined;
}

export interface FaultCounts {
  kills: number;
  killsOfSenders: number;
  stops: number;
  stopsOfSenders: number;
  serverKills: number;
  relayFaults: number;
}

/** Has something fail every 50 to 300 ms, and returns when all is well again: servers up, processes running, connections open. */
export async function causeFaults(
  { fleet, server, relay }: Targets,
  durationMs: number,
  random: Random,
): Promise<FaultCounts> {
  const counts = { kills: 0, killsOfSenders: 0, stops: 0, stopsOfSenders: 0, serverKills: 0, relayFaults: 0 };
  const until = performance.now() + durationMs;
  const ends: Promise<unknown>[] = [];
  const busy = { server: false, relay: false };
  let over = false;

  /** Something that lasts for a while, and for no longer than the faults. */
  function lasting(maxMs: number, end: () => unknown): void {
    const ms = Math.min(random.integer(20, maxMs), Math.max(0, until - performance.now()));
    ends.push(delay(ms).then(end));
  }

  function stop(index: number): void {
    fleet.stop(index);
    lasting(random.pick([300, 2_000, 8_000]), () => fleet.resume(index));
  }

  /** Befalls the process that sends the next token request. */
  function ambush(what: keyof FaultCounts, befall: (index: number) => void): void {
    fleet.lieInWait((index) => {
      if (over) return;
      counts[what] += 1;
      befall(index);
    });
  }

  const faults = {
    kill() {
      counts.kills += 1;
      fleet.kill(random.integer(0, fleet.size - 1));
    },
    killSender: () => ambush('killsOfSenders', fleet.kill),
    stop() {
      counts.stops += 1;
      stop(random.integer(0, fleet.size - 1));
    },
    stopSender: () => ambush('stopsOfSenders', stop),
    killServer() {
      if (!server || busy.server) return;
      busy.server = true;
      counts.serverKills += 1;
      const killed = server.kill();
      lasting(600, async () => {
        await killed;
        await server.restart();
        busy.server = false;
      });
    },
    disturbRelay() {
      if (!relay || busy.relay) return;
      busy.relay = true;
      counts.relayFaults += 1;
      relay.set(random.pick<RelayMode>(['silent', 'deaf', 'deaf', 'slow']));
      lasting(random.pick([100, 500, 2_500]), () => {
        relay.set('pass');
        busy.relay = false;
      });
    },
    resetConnections() {
      if (!relay) return;
      counts.relayFaults += 1;
      relay.reset();
    },
  };

  const names = Object.keys(faults) as (keyof typeof faults)[];
  let deck: typeof names = [];
  // The faults are dealt like cards, so that a short run has some of everything. On a slow machine a run has fewer faults in its
  // time: it deals all of them twice in any case.
  for (let dealt = 0; performance.now() < until || dealt < 2 * names.length; dealt += 1) {
    if (deck.length === 0) deck = random.shuffled(names);
    faults[deck.pop() as keyof typeof faults]();
    await delay(random.integer(50, 300));
  }
  over = true;
  await Promise.all(ends);
  return counts;
}

/** The handling of a request by the token endpoint: it answers most, some late, and loses some before or after it issued a token. */
export function unreliableEndpoint(random: Random): () => ScriptedTokenAnswer | undefined {
  return () => {
    const delayMs = random.integer(0, 150);
    if (random.chance(0.8)) return { delayMs };
    return random.pick<ScriptedTokenAnswer>([
      { delayMs, cut: 'answer' },
      { delayMs, cut: 'request' },
      { delayMs, cut: 'body' },
      { delayMs: 3_000 },
      { delayMs: 3_000, waitBefore: 'handling' },
      { delayMs, status: 500 },
      { delayMs, status: 502, issue: true },
    ]);
  };
}
