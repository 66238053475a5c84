import type { MemoryFault, MemoryScope } from './memory-model.ts';
import type { FaultKind, Scope } from './model.ts';

const everything: readonly FaultKind[] = ['crash', 'store', 'reply', 'release', 'reset', 'clock'];
const requests: readonly FaultKind[] = ['crash', 'store', 'reply', 'release'];

/** One agreement for all: so many tokens a day. */
const daily = (tokens: number): Scope['agreements'] => [[{ tokens, hours: 24 }]];
const oneAnHour = { tokens: 1, hours: 1 };
const oneADay = { tokens: 1, hours: 24 };
const twoADay = { tokens: 2, hours: 24 };

/** Searched to the end, in minutes. */
export const scopes: readonly Scope[] = [
  { processes: 2, agreements: daily(1), faults: 2, steps: 1, rounds: 1, kinds: everything },
  { processes: 2, agreements: daily(1), faults: 1, steps: 2, rounds: 2, kinds: everything },
  { processes: 2, agreements: daily(2), faults: 2, steps: 1, rounds: 1, kinds: requests },
  { processes: 3, agreements: daily(1), faults: 1, steps: 1, rounds: 1, kinds: everything },
  { processes: 3, agreements: daily(2), faults: 1, steps: 1, rounds: 1, kinds: requests },
  { processes: 2, agreements: daily(2), faults: 2, steps: 2, rounds: 2, kinds: ['crash', 'ahead'] },
  { processes: 2, agreements: daily(1), faults: 2, steps: 1, rounds: 1, kinds: ['crash', 'wipe'] },
  { processes: 2, agreements: daily(1), faults: 2, steps: 1, rounds: 1, kinds: ['crash', 'regress'] },
  { processes: 1, agreements: daily(5), faults: 3, steps: 3, rounds: 1, kinds: ['crash'] },
  { processes: 2, agreements: [[twoADay, oneAnHour]], faults: 1, steps: 2, rounds: 2, kinds: [...requests, 'reset'] },
  {
    processes: 2,
    agreements: [[oneADay], [twoADay]],
    faults: 1,
    steps: 2,
    rounds: 2,
    kinds: ['crash', 'reply', 'reset'],
  },
];

/** Searched to the end, in seconds. */
export const quickScopes: readonly Scope[] = [
  { processes: 2, agreements: daily(1), faults: 1, steps: 1, rounds: 1, kinds: everything },
  { processes: 2, agreements: daily(2), faults: 1, steps: 1, rounds: 1, kinds: everything },
  { processes: 3, agreements: daily(1), faults: 1, steps: 0, rounds: 1, kinds: everything },
  { processes: 2, agreements: daily(2), faults: 1, steps: 1, rounds: 2, kinds: ['ahead'] },
  { processes: 1, agreements: daily(5), faults: 2, steps: 2, rounds: 1, kinds: ['crash'] },
  { processes: 2, agreements: [[twoADay, oneAnHour]], faults: 1, steps: 1, rounds: 2, kinds: ['reset'] },
  { processes: 2, agreements: [[oneADay], [twoADay]], faults: 1, steps: 1, rounds: 2, kinds: ['reset'] },
];

const anything: readonly MemoryFault[] = ['401', 'sleep', 'reset', 'read fails', 'request fails', 'restart'];

/** Scopes of the memory of processes that are searched completely in a minute. */
export const memoryScopes: readonly MemoryScope[] = [
  { processes: 2, faults: 1, steps: 1, tokens: 2, kinds: anything },
  { processes: 1, faults: 2, steps: 1, tokens: 2, kinds: anything },
  { processes: 1, faults: 1, steps: 2, tokens: 2, kinds: ['401', 'sleep', 'reset'] },
];

/** Scopes of the memory of processes that are searched completely in seconds. */
export const quickMemoryScopes: readonly MemoryScope[] = [
  { processes: 2, faults: 1, steps: 0, tokens: 2, kinds: anything },
  { processes: 1, faults: 2, steps: 1, tokens: 2, kinds: ['401', 'reset'] },
];
