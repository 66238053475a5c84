import { fnv } from '../random.ts';

/** The result of a search. */
export interface Found {
  readonly states: number;
  readonly moves: number;
  /** The longest way from the beginning. */
  readonly depth: number;
  /** True if every state was tried; false if the search ended at `most` states. */
  readonly complete: boolean;
  /** A broken promise and how to get there. */
  readonly broken: { readonly promise: string; readonly way: readonly string[] } | undefined;
}

/** The first path to a state: its predecessor and the move. */
interface Origin {
  readonly from: number;
  readonly label: string;
}

/** One thing that can happen next. */
export interface Move<State> {
  readonly label: string;
  readonly state: State;
  /** Set if it breaks a promise. */
  readonly broken?: string | undefined;
}

/** Searches breadth first, so that the way to a broken promise is a shortest one. Ends at `most` states. */
export function search<State>(
  beginning: State,
  moves: (state: State) => Iterable<Move<State>>,
  most: number = Number.POSITIVE_INFINITY,
): Found {
  // States are kept only while they are at the front; of the others a name is enough.
  const origins = new Map<number, Origin>();
  const labels = new Map<string, string>();
  let front: { name: number; state: State }[] = [{ name: 0, state: beginning }];
  let [tried, depth] = [0, 0];
  const figures = (complete: boolean, broken?: Found['broken']): Found => {
    return { states: origins.size, moves: tried, depth, complete, broken };
  };
  while (front.length > 0) {
    const next: typeof front = [];
    for (const { name: from, state: before } of front) {
      for (const { label, state, broken } of moves(before)) {
        tried += 1;
        if (broken !== undefined) return figures(false, { promise: broken, way: [...wayTo(from, origins), label] });
        const name = nameOf(state);
        if (origins.has(name)) continue;
        if (!labels.has(label)) labels.set(label, label);
        origins.set(name, { from, label: labels.get(label) as string });
        if (origins.size >= most) return figures(false);
        next.push({ name, state });
      }
    }
    if (next.length > 0) depth += 1;
    front = next;
  }
  return figures(true);
}

/** 53 bits of a state: with millions of states the chance that two share a name is one in thousands. */
function nameOf(state: unknown): number {
  const text = JSON.stringify(state);
  return (fnv(text, 0x1234567) & 0x1f_ffff) * 2 ** 32 + fnv(text);
}

function wayTo(name: number, origins: ReadonlyMap<number, Origin>): string[] {
  const way: string[] = [];
  for (let at = origins.get(name); at; at = origins.get(at.from)) way.unshift(at.label);
  return way;
}
