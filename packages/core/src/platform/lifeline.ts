/** The rules of a runtime for work that outlives the incoming request in which it began. */
export interface Lifeline {
  /**
   * I/O ends with the incoming request that began it, as in Cloudflare Workers. A request must not
   * wait for the work of another one.
   */
  readonly requestBound: boolean;
  /** Keeps the I/O of the incoming request going until `work` ends. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
}
