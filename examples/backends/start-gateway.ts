// The shop by other protocols: MCP and WebSockets, behind the same tokens.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Shop } from './start-shop.ts';

/** Starts it on loopback. */
export async function startGateway({
  accepts,
}: Shop): Promise<AsyncDisposable & { readonly env: Record<string, string> }> {
  const sockets = new WebSocketServer({ noServer: true });
  const server = http.createServer(async (request, response) => {
    if (!(await accepts(request.headers.authorization))) {
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
      return;
    }
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport();
    const tools = new McpServer({ name: 'shop', version: '1.0.0' });
    tools.registerTool('order', { inputSchema: { item: z.string() } }, ({ item }) => ({
      content: [{ type: 'text', text: `ordered ${item}` }],
    }));
    await tools.connect(transport as never);
    await transport.handleRequest(request, response);
  });
  server.on('upgrade', async (request, socket, head) => {
    if (!(await accepts(request.headers.authorization))) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (item) => client.send(`ordered ${item}`));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    env: { SERVICE_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}
