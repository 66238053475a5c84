// Microsoft's libraries speak to https hosts of their own only. Their network interfaces are what leads them to loopback.

export const tenant = '00000000-0000-0000-0000-000000000001';
export const authority = `https://login.microsoftonline.com/${tenant}`;

const metadata = (tokenUrl) => ({
  tenant_discovery_endpoint: tokenUrl,
  authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
  token_endpoint: `${authority}/oauth2/v2.0/token`,
  issuer: `${authority}/v2.0`,
  jwks_uri: `${authority}/discovery/v2.0/keys`,
  'api-version': '1.1',
  metadata: [],
});

/** The `networkClient` of msal-node. */
export function aadNetwork(tokenUrl) {
  return {
    sendGetRequestAsync: async () => ({ headers: {}, status: 200, body: metadata(tokenUrl) }),
    async sendPostRequestAsync(_url, { headers, body }) {
      const response = await fetch(tokenUrl, { method: 'POST', headers, body });
      return { headers: Object.fromEntries(response.headers), status: response.status, body: await response.json() };
    },
  };
}

/** The `httpClient` of @azure/identity. */
export function azureHttp(tokenUrl) {
  return {
    async sendRequest(request) {
      const isTokenRequest = request.method === 'POST';
      const response = isTokenRequest
        ? await fetch(tokenUrl, { method: 'POST', headers: request.headers.toJSON(), body: request.body })
        : Response.json(metadata(tokenUrl));
      const { createHttpHeaders } = await import('@azure/core-rest-pipeline');
      const headers = createHttpHeaders(Object.fromEntries(response.headers));
      return { request, status: response.status, headers, bodyAsText: await response.text() };
    },
  };
}
