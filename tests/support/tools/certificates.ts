import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const fileOf = (name: string) => fileURLToPath(new URL(`certificates/${name}.pem`, import.meta.url));

/** Paths of certificates, for tests alone. */
export const certificateFiles: {
  /** The authority that signed `certificate`. */
  readonly authority: string;
  /** For `localhost` and 127.0.0.1. */
  readonly certificate: string;
  /** The key of all certificates here. */
  readonly key: string;
  /** For `localhost` and not for 127.0.0.1. No other authority signed it. */
  readonly byName: string;
} = {
  authority: fileOf('authority'),
  certificate: fileOf('localhost'),
  key: fileOf('localhost.key'),
  byName: fileOf('by-name'),
};

/** A key and its certificate, as a TLS server takes them. */
export interface Identity {
  readonly key: Buffer;
  readonly cert: Buffer;
}

const identityOf = (certificate: string): Identity => ({
  key: readFileSync(certificateFiles.key),
  cert: readFileSync(certificate),
});

/** Trusted by who trusts the authority. */
export const trusted: Identity = identityOf(certificateFiles.certificate);

/** A certificate for `localhost` that no authority signed. */
export const selfSigned: Identity = identityOf(fileOf('self-signed'));
