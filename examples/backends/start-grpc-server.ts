import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { ordersService } from '../recipes/orders-client.ts';
import { certificate } from './certificate.ts';
import type { Shop } from './start-shop.ts';

/** Starts the shop as a gRPC service on loopback, over TLS. */
export async function startGrpcServer({
  accepts,
}: Shop): Promise<AsyncDisposable & { readonly env: Record<string, string> }> {
  const server = new Server();
  server.addService(ordersService, {
    async order(call: ServerUnaryCall<{ item: string }, object>, done: sendUnaryData<object>) {
      const [authorization] = call.metadata.get('authorization');
      if (await accepts(authorization?.toString())) done(null, { id: 2, item: call.request.item });
      else done({ code: status.UNAUTHENTICATED, details: 'invalid_token' });
    },
  });
  const tls = ServerCredentials.createSsl(null, [{ cert_chain: certificate.cert, private_key: certificate.key }]);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', tls, (error, port) => (error ? reject(error) : resolve(port)));
  });
  return {
    env: { GRPC_ADDRESS: `localhost:${port}` },
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  };
}
