import { ownProperties, ownProperty } from './untrusted.ts';

/**
 * Creates an init of which a polluted `Object.prototype` cannot redirect the request. Node copies an init into an ordinary object before it reads the
 * missing members, so a `dispatcher` that the prototype has is set to the default.
 */
export function fetchInit<Init extends object>(members: Init): Init {
  const init = ownProperties(members);
  if ('dispatcher' in Object.prototype) Object.assign(init, { dispatcher: nodeDispatcher() });
  return init;
}

/** Returns the dispatcher that Node's fetch uses by default. */
function nodeDispatcher(): unknown {
  // Node creates the dispatcher when it loads its fetch, which the first use of this class does.
  void Headers;
  return [2, 1]
    .map((version) => ownProperty(globalThis, Symbol.for(`undici.globalDispatcher.${version}`)))
    .find(Boolean);
}
