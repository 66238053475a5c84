// Preloaded: ky sends by the global fetch.
import { createAuthFetch } from '@service-auth/fetch';
import { auth } from './auth.ts';

globalThis.fetch = createAuthFetch(auth);
