import { ownProperties, ownProperty } from './untrusted.ts';

// The defaults of the Fetch standard, section 5.4.
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
 * Creates an init from which fetch reads nothing of a polluted `Object.prototype`. Node copies an init into an ordinary object before it reads the
 * missing members, so members that the prototype has are set to their defaults.
 */
export function fetchInit<Init extends object>(members: Init): Init {
  const init = ownProperties({ ...members }) as Init & Record<string, unknown>;
  for (const name of Object.keys(defaults))
    if (name in Object.prototype) Object.assign(init, { [name]: ownProperty(members, name) ?? defaults[name] });
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
