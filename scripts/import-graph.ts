import { dirname } from 'node:path';

/** Maps each file or folder to those that it imports. All are paths from the root. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** The graph of the folders that these files lie in. A folder inside another one is a folder of its own. */
export function foldersOf(files: ImportGraph): ImportGraph {
  const folders = new Map<string, Set<string>>();
  for (const [file, imported] of files) {
    const folder = dirname(file);
    const others = [...imported].map((other) => dirname(other)).filter((other) => other !== folder);
    folders.set(folder, new Set([...(folders.get(folder) ?? []), ...others]));
  }
  return folders;
}

/** The circles of a graph, the shortest through each node that is in one: `a`, `b`, `a`. Each set of nodes is named once. */
export function circlesIn(graph: ImportGraph): string[][] {
  const found = new Map<string, string[]>();
  for (const start of graph.keys()) {
    const circle = shortestCircle(graph, start);
    const nodes = [...new Set(circle)].sort().join();
    if (circle && !found.has(nodes)) found.set(nodes, circle);
  }
  return [...found.values()];
}

function shortestCircle(graph: ImportGraph, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (const node of waiting) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) return pathTo(node, cameFrom).concat(start);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      waiting.push(next);
    }
  }
  return undefined;
}

function pathTo(node: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const before = cameFrom.get(node);
  return before === undefined ? [node] : [...pathTo(before, cameFrom), node];
}
