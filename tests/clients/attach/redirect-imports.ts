// Preloaded: what we attach to is the client of the suite. Where its tests import it, they get the one that stands in for it, if there is one.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const { CLIENT: client, CLIENT_ENTRY: file = '', CLIENT_STAND_IN: standIn } = process.env;
const entry = pathToFileURL(file).href;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === client) return { url: entry, shortCircuit: true };
    const found = next(specifier, context);
    const isOfTest = context.parentURL?.includes('/test/');
    return standIn && isOfTest && found.url === entry ? { ...found, url: standIn } : found;
  },
});
