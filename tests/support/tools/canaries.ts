import { renderings } from './renderings.ts';

/** A client secret of tests. Nothing that can be read may contain it. */
export const secretCanary = 'canary-secret-5f0e3a7c91';
/** The beginning of every token in tests. No readable text except a token's own value may contain it. */
export const tokenCanary = 'canary-token-b2d84c60f7';

/** The forms of a canary in a text and in bytes: unchanged, in Base64 at any offset, and as Node prints Buffers. */
function formsOf(canary: string): string[] {
  const bytes = Buffer.from(canary);
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // Without the characters that depend on what stands before and after.
    return text.slice(offset && offset + 1, Math.floor(((offset + bytes.length) * 4) / 3));
  });
  const hex = bytes.toString('hex');
  const spaced = [...bytes].map((byte) => byte.toString(16)).join(' ');
  return [canary, Buffer.from(canary, 'utf16le').toString('latin1'), hex, spaced, [...bytes].join(','), ...inBase64];
}

const forms = [secretCanary, tokenCanary].map((canary) => ({ canary, forms: formsOf(canary) }));

/** A canary that was found. */
export interface Sighting {
  readonly canary: string;
  readonly at: number;
}

/** The positions of canaries in a text, in every form. Bytes are given as latin1. */
export function sightings(text: string): Sighting[] {
  const found: Sighting[] = [];
  for (const { canary, forms: all } of forms) {
    for (const form of all) {
      for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length))
        found.push({ canary, at });
    }
  }
  return found;
}

/** The canaries that can be read in a value: in its text, its properties, its causes, inspected at any depth, or as JSON. */
export function canariesIn(value: unknown): string[] {
  const found = new Set(sightings(renderings(value).join('\n')).map(({ canary }) => canary));
  return [secretCanary, tokenCanary].filter((canary) => found.has(canary));
}
