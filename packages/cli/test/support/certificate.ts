import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateFiles } from '@service-auth/test-tools/certificates';
import { emptyFolder } from './program.ts';

/** A copy of a certificate for `localhost`, which is its own authority, for servers that check who owns its key and who may read it. */
export function copyCertificate(): { ca: string; cert: string; key: string; folder: string } {
  const folder = emptyFolder();
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  copyFileSync(certificateFiles.byName, cert);
  copyFileSync(certificateFiles.key, key);
  chmodSync(key, 0o600);
  return { ca: cert, cert, key, folder };
}
