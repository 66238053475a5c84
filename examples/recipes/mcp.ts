// The transport of the Model Context Protocol takes a `fetch`.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts mcp
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';

const auth = createServiceAuthFromEnv(process.env);
const url = new URL(`${process.env['SERVICE_BASE_URL']}/api/v1/mcp`);
// Pass no `authProvider`: it is for users who log in.
const transport = new StreamableHTTPClientTransport(url, { fetch: createAuthFetch(auth) });
const client = new Client({ name: 'my-agent', version: '1.0.0' });
await client.connect(transport);

const { tools } = await client.listTools();
console.log(tools.map(({ name }) => name));

const { content } = await client.callTool({ name: 'order', arguments: { item: 'tea' } });
console.log(content);
await client.close();
