/**
 * Hides the sockets and the queue of an agent of `node:http` or `node:https` from printing. They
 * lead to the headers of all requests under way, and errors of some clients contain the agent. Does
 * nothing with anything else.
 */
export function hideAgentRequests(agent: unknown): void {
  for (const name of ['sockets', 'freeSockets', 'requests']) {
    if (Object.hasOwn(Object(agent), name)) {
      Reflect.defineProperty(agent as object, name, { enumerable: false });
    }
  }
}
