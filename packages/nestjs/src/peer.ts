import { createRequire } from 'node:module';

// Of the two names each build has one: the ES module import.meta, the CommonJS module __filename. Not import(), for it is asynchronous, while
// Nest wants a module at once, and because Jest refuses it in CommonJS applications.
const requireHere = createRequire(typeof __filename === 'string' ? __filename : import.meta.url);

/** Loads an optional peer. @throws an Error that says what to install */
export function requirePeer<Exports>(name: string, neededBy: string): Exports {
  try {
    return requireHere(name) as Exports;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new Error(`[service-auth/nestjs] ${neededBy} needs ${name}: npm install ${name}`, { cause });
  }
}
