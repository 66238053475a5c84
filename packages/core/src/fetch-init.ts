import { own, ownProperties } from './foreign.ts';

/** What fetch takes when it is told nothing (Fetch standard, section 5.4). */
const defaults: Readonly<Record<string, unknown>> = {
  mode: 'cors',
  credentials: 'same-origin',
  cache: 'default',
  referrer: 'about:client',
  referrerPolicy: '',
  integrity: '',
  keepalive: false,
  duplex: 'half',
  priority: 'auto',
  window: null,
};

/**
 * The init of a fetch, in which nothing is read from the prototype of all objects. Node copies an init into an ordinary object before
 * it reads the members that are missing, so each member that somebody put on the prototype has its default here.
 */
export function fetchInit<Init extends object>(members: Init): Init {
  const init = ownProperties({ ...members }) as Init & Record<string, unknown>;
  for (const name of Object.keys(defaults))
    if (name in Object.prototype) Object.assign(init, { [name]: own(members, name) ?? defaults[name] });
  if ('dispatcher' in Object.prototype) Object.assign(init, { dispatcher: nodeDispatcher() });
  return init;
}

/** What Node's fetch sends by, which has no other default to be named. */
function nodeDispatcher(): unknown {
  // Node loads its fetch, and with it the dispatcher, when the first of these classes is used.
  void Headers;
  return [2, 1].map((version) => own(globalThis, Symbol.for(`undici.globalDispatcher.${version}`))).find(Boolean);
}
