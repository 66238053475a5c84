import { renderings } from './renderings.ts';

/** A client secret of tests. Nothing that can be read may contain it. */
export const secretCanary = 'canary-secret-5f0e3a7c91';
/** How tokens of tests begin. Nothing that can be read may contain it, but a token's own value. */
export const tokenCanary = 'canary-token-b2d84c60f7';

/** What a canary looks like in text, and in a text of bytes: as they are, in Base64 at any offset, and as Buffers are printed. */
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

/** Where the canaries are in a text, in whatever form. Bytes are given as latin1. */
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
