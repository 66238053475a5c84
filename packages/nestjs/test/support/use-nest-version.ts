// Preloaded with `?from=` a package: what the sources of ours require() of Nest, axios and rxjs comes from there. For imports vitest.config.ts does it.
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const from = new URL(import.meta.url).searchParams.get('from') ?? '';
const requireFrom = createRequire(from);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const isOurs = context.parentURL?.includes('/node_modules/') === false && context.parentURL !== from;
    if (!isOurs || !/^(@nestjs\/|axios$|rxjs$)/.test(specifier)) return nextResolve(specifier, context);
    return { url: pathToFileURL(requireFrom.resolve(specifier)).href, shortCircuit: true };
  },
});
