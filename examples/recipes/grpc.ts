// gRPC sends the token by call credentials, with every call.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts grpc
import { credentials, InterceptingCall, type Interceptor, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { tokenProvider } from '@service-auth/core/http';
import { OrdersClient } from './orders-client.ts'; // your generated client

const token = tokenProvider(createServiceAuthFromEnv(process.env));

const callCredentials = credentials.createFromMetadataGenerator((_call, done) => {
  const send = (value: string) => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${value}`);
    done(null, metadata);
  };
  token().then(send, (error: Error) => done(error));
});

/** Reports a rejected token. Without it the clients would send a revoked token until it ends. */
const reportRejection: Interceptor = (options, nextCall) =>
  new InterceptingCall(nextCall(options), {
    start(metadata, _listener, start) {
      start(metadata, {
        async onReceiveStatus(received, pass) {
          if (received.code === status.UNAUTHENTICATED) await token.rejected();
          pass(received);
        },
      });
    },
  });

// gRPC refuses to send call credentials over a connection without TLS.
const channel = credentials.combineChannelCredentials(credentials.createSsl(), callCredentials);
const client = new OrdersClient(process.env['GRPC_ADDRESS'] ?? '', channel, { interceptors: [reportRejection] });

/** Calls, and tries once more with another token if the server rejects the first one. */
async function order(item: string): Promise<unknown> {
  const call = () =>
    new Promise((resolve, reject) => {
      client.order({ item }, (error: ServiceError | null, answer?: object) =>
        error ? reject(error) : resolve(answer),
      );
    });
  return call().catch((error: ServiceError) =>
    error.code === status.UNAUTHENTICATED ? call() : Promise.reject(error),
  );
}

console.log(await order('tea'));
client.close();
