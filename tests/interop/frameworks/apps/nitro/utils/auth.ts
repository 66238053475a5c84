import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { fileStore } from '@service-auth/file';

export const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env, { store: fileStore() }));
