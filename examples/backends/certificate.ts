import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = (name: string): string =>
  fileURLToPath(new URL(`../../tests/support/tools/certificates/${name}.pem`, import.meta.url));

/** The file of the authority that signed {@link certificate}. */
export const authorityFile: string = file('authority');

/** The certificate of localhost, and its key. */
export const certificate: { readonly cert: Buffer; readonly key: Buffer } = {
  cert: readFileSync(file('localhost')),
  key: readFileSync(file('localhost.key')),
};
