/** Runs with this process's `Date` ahead by `stepMs`, the way an administrator or a bad time server moves it. */
export async function withSteppedDate(stepMs: number, run: () => Promise<void>): Promise<void> {
  const RealDate = globalThis.Date;
  const now = (): number => RealDate.now() + stepMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length > 0 ? given : [now()], newTarget),
    get: (target, property) => (property === 'now' ? now : Reflect.get(target, property)),
  });
  try {
    await run();
  } finally {
    globalThis.Date = RealDate;
  }
}
