// kafkajs asks its `oauthBearerProvider` for a token when it connects to a broker.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts kafkajs
import { createServiceAuthFromEnv } from '@service-auth/core';
import { tokenProvider } from '@service-auth/core/http';
import { Kafka, type Producer } from 'kafkajs';

const token = tokenProvider(createServiceAuthFromEnv(process.env));

const kafka = new Kafka({
  clientId: 'my-application',
  brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
  ssl: true, // The token must not go over a connection that others can read.
  sasl: {
    mechanism: 'oauthbearer',
    oauthBearerProvider: async () => ({ value: await token() }),
  },
});

/** Connects, and tries once more with another token if the brokers reject the first one. */
async function connect(producer: Producer): Promise<void> {
  try {
    await producer.connect();
  } catch (error) {
    if ((error as Error).name !== 'KafkaJSSASLAuthenticationError') throw error;
    await token.rejected(); // A broker answers no 401, so nobody else reports this.
    await producer.connect();
  }
}

const producer = kafka.producer();
await connect(producer);
console.log('connected');
await producer.disconnect();
