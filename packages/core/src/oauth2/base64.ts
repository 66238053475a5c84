/** Encodes bytes as Base64 (RFC 4648 section 4). */
export function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Encodes bytes as Base64url without padding (RFC 7515 section 2). */
export function base64Url(bytes: Uint8Array): string {
  return base64(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** Encodes the JSON of a value as Base64url. */
export function base64UrlOfJson(value: object): string {
  return base64Url(new TextEncoder().encode(JSON.stringify(value)));
}
