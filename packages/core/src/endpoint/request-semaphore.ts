import { abortable } from '../platform/abortable.ts';

const maxRequests = 256;

/** Limits how many token requests of a process are under way. The others wait for a permit, in order. */
export class RequestSemaphore {
  #taken = 0;
  #waiting: (() => void)[] | undefined;

  /** Takes a permit if one is free. */
  take(): boolean {
    if (this.#taken >= maxRequests) return false;
    this.#taken += 1;
    return true;
  }

  /** Waits for a permit, and takes it. Rejects with the reason of the signal if it aborts before. */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.take()) return;
    const permit = new Promise<void>((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
    try {
      await abortable(permit, signal);
    } catch (reason) {
      // The permit comes nevertheless. It is for the next one.
      void permit.then(() => this.end());
      throw reason;
    }
  }

  /** Gives a permit to the next one that waits. */
  end(): void {
    const next = this.#waiting?.shift();
    if (next) next();
    else this.#taken -= 1;
  }
}
