import { inChildren } from '../children.ts';
import type { Figures } from './outage-world.ts';
import type { WorldTask } from './worker.ts';

const worker = new URL('worker.ts', import.meta.url);

/** The core of this repository. */
export const thisCore = '@service-auth/core';

/** Does these tasks on all processors. Of several seeds of a world, the largest of each figure counts. `done`: called when all seeds of a world are done. */
export async function tryWorlds(
  tasks: readonly WorldTask[],
  done: (name: string, figures: Figures) => void = () => {},
): Promise<Map<string, Figures>> {
  const results = new Map<string, Figures>();
  const left = tasks.map(({ name }) => name);
  await inChildren(worker, tasks, (figures: Figures, { name }) => {
    const known = results.get(name);
    const worst = Object.entries(figures).map(([key, figure]) => [key, Math.max(figure, known?.[key] ?? figure)]);
    results.set(name, Object.fromEntries(worst));
    left.splice(left.indexOf(name), 1);
    if (!left.includes(name)) done(name, results.get(name) as Figures);
  });
  return results;
}
