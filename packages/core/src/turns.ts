import { raced } from './raced.ts';

const maxRequests = 256;

/** Limits how many token requests of a process are under way. The others wait for their turn, in order. */
export class Turns {
  #taken = 0;
  #waiting: (() => void)[] | undefined;

  /** Takes a turn if one is free. */
  take(): boolean {
    if (this.#taken >= maxRequests) return false;
    this.#taken += 1;
    return true;
  }

  /** Waits for a turn, and takes it. Rejects with the reason of the signal if it aborts before. */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.take()) return;
    const turn = new Promise<void>((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
    try {
      await raced(turn, signal);
    } catch (reason) {
      // The turn comes nevertheless. It is for the next one.
      void turn.then(() => this.end());
      throw reason;
    }
  }

  /** Gives a turn to the next one that waits. */
  end(): void {
    const next = this.#waiting?.shift();
    if (next) next();
    else this.#taken -= 1;
  }
}
