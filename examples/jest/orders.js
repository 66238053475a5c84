// A module of an application.
const { createServiceAuthFromEnv } = require('@service-auth/core');
const { createAuthFetch } = require('@service-auth/fetch');

const authFetch = createAuthFetch(createServiceAuthFromEnv(process.env));

exports.readOrder = async (id) => {
  const response = await authFetch(`${process.env.SERVICE_BASE_URL}/api/v1/orders/${id}`);
  if (!response.ok) throw new Error(`The API answered ${response.status}`);
  return response.json();
};
