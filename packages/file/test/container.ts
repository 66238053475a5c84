// Runs in a container of its own, which containers.test.ts makes: has tokens issued, one for each audience, and says what it sees.
import { createServiceAuth } from '@service-auth/core';
import { fileStore } from '../src/index.ts';

const [directory = '', name = '', tokens = '0'] = process.argv.slice(2);
const store = fileStore(directory);
let issued = 0;
let refused = 0;
for (let count = 0; count < Number(tokens); count += 1) {
  const auth = createServiceAuth({
    authUrl: 'https://auth.example.com',
    audience: `${name} ${count}`,
    clientId: 'client',
    clientSecret: 'secret',
    store,
    issuanceLimit: { tokens: 20 },
    async transport() {
      issued += 1;
      const body = JSON.stringify({ access_token: `${name}-${count}`, token_type: 'Bearer', expires_in: 86_400 });
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
  });
  await auth.getToken().catch(({ code }: { code: string }) => {
    if (code !== 'ERR_ISSUANCE_LIMIT') throw new Error(code);
    refused += 1;
  });
}
const { now } = await store.load('clock');
// All containers share the wall clock.
console.log(JSON.stringify({ issued, refused, aheadMs: now - Date.now() }));
