import { ownProperties } from '../untrusted.ts';

const nonEnumerable = ownProperties({ enumerable: false });

/** Makes a property of `part` non-enumerable, so that printing `part` does not show it. Does nothing if `part` has no such own property. */
export function hideProperty(part: unknown, name: string): void {
  if (Object.hasOwn(Object(part), name)) Reflect.defineProperty(part as object, name, nonEnumerable);
}

/**
 * Hides the sockets and the queue of an agent of `node:http` or `node:https` from printing. They lead to the headers of all requests under way, and
 * errors of some clients contain the agent.
 */
export function hideAgentRequests(agent: unknown): void {
  for (const name of ['sockets', 'freeSockets', 'requests']) hideProperty(agent, name);
}
