/** Lets tests wait for something to happen instead of for time to pass. */
export interface Activity {
  /** Something happened: asks every condition again. */
  notify(): void;
  /** Resolves once `condition` holds. Rejects with what it throws. */
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
