import type { InjectionToken } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

/**
 * Returns whether a module of the application finds `token` in two of its imports that also
 * provide `mark`. Nest would inject the first of the two and ignore the other one. A module may
 * import one of its own in place of the global one.
 */
export function isAmbiguous(token: InjectionToken, mark: InjectionToken, modules: ModulesContainer): boolean {
  return [...modules.values()].some(({ imports }) => {
    // Nest adds the global modules after those that the module imports itself.
    const [first, ...others] = [...imports].filter(({ providers }) => providers.has(token) && providers.has(mark));
    return others.some(({ isGlobal }) => first?.isGlobal || !isGlobal);
  });
}
