// The process that waits.test.ts starts and kills: asks for a token as replica-1.
import { createServiceAuth } from '@service-auth/core';
import { fileStore } from '@service-auth/file';

const [directory = '', options = ''] = process.argv.slice(2);
const auth = createServiceAuth({ ...JSON.parse(options), store: fileStore(directory), instance: 'replica-1' });
process.once('disconnect', () => process.exit());
await auth.getToken();
