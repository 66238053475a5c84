/**
 * What the operator counted in one of its windows, as an answer of its endpoint said: the length of the window, its tokens, those of them that remain, and
 * how long after the count the window ends. A later release may add numbers.
 */
export type Quota = readonly [windowMs: number, tokens: number, remaining: number, endsInMs: number, ...more: number[]];
