/** Encodes bytes as Base64 (RFC 4648 section 4). */
export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Encodes bytes as Base64url without padding (RFC 7515 section 2). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/**
 * Decodes Base64url. Each character of the result is a byte. Throws if the text is no Base64url.
 */
export function fromBase64Url(text: string): string {
  return atob(text.replace(/-/g, '+').replace(/_/g, '/'));
}

/**
 * Returns random bytes. Processes that were resumed from one image of memory (a snapshot of a
 * virtual machine) have one random generator in one state. So the time, to fractions of a
 * microsecond where the platform tells it, is part of the bytes.
 */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  const time = new Uint8Array(Float64Array.of(Date.now() + performance.now()).buffer);
  return crypto.getRandomValues(new Uint8Array(length)).map((byte, index) => byte ^ (time[index] as number));
}
