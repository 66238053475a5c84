import { defineEnvVars } from '@sveltejs/kit/env';

// `vite build` starts the server once without these variables. So they are optional here, and Service Auth says which of them are missing.
const text = { schema: (value: string | undefined) => value };

export const variables = defineEnvVars({
  SERVICE_AUTH_URL: text,
  SERVICE_BASE_URL: text,
  SERVICE_AUTH_AUDIENCE: text,
  SERVICE_AUTH_CLIENT_ID: text,
  SERVICE_AUTH_CLIENT_SECRET: text,
});
