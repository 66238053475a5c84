// Preloaded: Node cannot read what the condition `module` leads to in API 1.9, for it is made for bundlers.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    nextResolve(specifier, { ...context, conditions: context.conditions.filter((name) => name !== 'module') }),
});
