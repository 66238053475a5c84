/**
 * Returns random bytes. Processes that were resumed from one image of memory (a snapshot of a virtual machine) have one random generator in one
 * state. So the time, to fractions of a microsecond where the platform tells it, is part of the bytes.
 */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  const time = new Uint8Array(Float64Array.of(Date.now() + performance.now()).buffer);
  return crypto.getRandomValues(new Uint8Array(length)).map((byte, index) => byte ^ (time[index] as number));
}
