import type { Transport, TransportResponse } from '@service-auth/core';
import { second } from '../judge/units.ts';
import type { Machine } from '../machine.ts';
import type { Random } from '../random.ts';
import type { Service } from '../service.ts';
import type { World } from '../world.ts';
import type { OutageWatch } from './outage-watch.ts';
import { endOf, type OutageWorld } from './outage-world.ts';

/** The way from a machine to the endpoint. */
export type Route = (machine: Machine, killed: () => void) => Transport;

const answerMs = second;

export const nameOf = (audience: number): string => `api ${audience}`;

/** Creates the endpoint of one run. Before the world begins, at `startsAt`, it always works. */
export function createOutageEndpoint(
  time: World,
  world: OutageWorld,
  startsAt: number,
  service: Service,
  random: Random,
  watch: OutageWatch,
): Route {
  const sinceMs = () => time.now - startsAt;

  return (machine, killed) => (request) =>
    new Promise((resolve, reject) => {
      if (!machine.alive) return;
      const sentAt = time.now;
      const { audience: name } = JSON.parse(request.body) as Record<string, string>;
      const audience = Number(name?.replace(nameOf(0).slice(0, -1), ''));
      const hasBegun = sinceMs() >= 0;
      const end = hasBegun ? endOf(world, audience, sinceMs(), random) : undefined;
      let isOpen = true;
      if (hasBegun) watch.sent();
      if (hasBegun && world.standsStillMs > 0) machine.freeze(world.standsStillMs);

      const answer = (reply: () => void) => time.at(time.now + answerMs, () => machine.deliver(reply));
      /** The outcome is known, or nobody will know it. */
      const close = (isLost: boolean) => {
        if (isOpen && isLost) watch.lost(audience, sentAt);
        else if (isOpen && end) watch.failed(audience);
        isOpen = false;
      };
      request.signal.addEventListener('abort', () => {
        close(true);
        reject(request.signal.reason);
      });
      const respond = (response: TransportResponse, isLost: boolean) =>
        answer(() => {
          close(isLost);
          resolve(response);
        });

      switch (end) {
        case undefined: {
          const issued = service.receive(request.body, sentAt, machine.name);
          return void respond({ headers: {}, ...issued }, false);
        }
        case 'failed':
          return void respond({ status: 503, headers: {}, body: '' }, true);
        case 'refused':
          return void respond({ status: 403, headers: {}, body: '{"error":"access_denied"}' }, false);
        case 'unreachable':
          return void answer(() => {
            close(false);
            reject(Object.assign(new Error('no connection'), { code: 'ECONNREFUSED', syscall: 'connect' }));
          });
        case 'silent':
          return;
        case 'killed':
          return void time.at(time.now + random.between(0.2, 4) * second, () => {
            close(true);
            machine.kill();
            killed();
          });
      }
    });
}
