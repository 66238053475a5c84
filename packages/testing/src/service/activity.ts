/** Lets tests wait for something to happen instead of for time to pass. */
export interface Activity {
  /** Reports an event, so that every condition is checked again. */
  notify(): void;
  /** Resolves when `condition` is true. Rejects with the error that it throws. */
  until(condition: () => boolean): Promise<void>;
}

export function createActivity(): Activity {
  const checks = new Set<() => void>();
  return {
    notify() {
      for (const check of checks) check();
    },
    until(condition) {
      return new Promise((resolve, reject) => {
        const check = () => {
          try {
            if (!condition()) return;
            resolve();
          } catch (error) {
            reject(error);
          }
          checks.delete(check);
        };
        checks.add(check);
        check();
      });
    },
  };
}
