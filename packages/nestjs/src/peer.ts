import { createRequire } from 'node:module';

// Each build has one of the two names: the ES module has import.meta, the CommonJS module has __filename. import() does not serve here: it is
// asynchronous, but Nest needs the module at once, and Jest rejects it in CommonJS applications.
const requireHere = createRequire(typeof __filename === 'string' ? __filename : import.meta.url);

/** Loads an optional peer dependency. @throws Error with the command that installs it, if it is missing */
export function requirePeer<Exports>(name: string, neededBy: string): Exports {
  try {
    return requireHere(name) as Exports;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new Error(`[service-auth/nestjs] ${neededBy} needs ${name}: npm install ${name}`, { cause });
  }
}
