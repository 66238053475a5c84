// A gRPC client without a code generator: messages are JSON. It takes the place of the one that yours writes.
import {
  type ChannelCredentials,
  type Client,
  type ClientOptions,
  makeClientConstructor,
  type ServiceDefinition,
  type ServiceError,
} from '@grpc/grpc-js';

export interface OrdersClient extends Client {
  order(
    request: { item: string },
    done: (error: ServiceError | null, answer?: { id: number; item: string }) => void,
  ): void;
}

const write = (message: object): Buffer => Buffer.from(JSON.stringify(message));
const read = (bytes: Buffer) => JSON.parse(bytes.toString());

export const ordersService: ServiceDefinition = {
  order: {
    path: '/shop.Orders/Order',
    requestStream: false,
    responseStream: false,
    requestSerialize: write,
    requestDeserialize: read,
    responseSerialize: write,
    responseDeserialize: read,
  },
};

export const OrdersClient = makeClientConstructor(ordersService, 'shop.Orders') as unknown as new (
  address: string,
  channel: ChannelCredentials,
  options?: ClientOptions,
) => OrdersClient;
