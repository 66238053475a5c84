import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';

const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env));
const answers = await Promise.all(
  [1, 2, 3].map((id) => authFetch(`${process.env.SERVICE_BASE_URL}/api/v1/orders/${id}`)),
);
console.log(answers.map(({ status }) => status).join());
