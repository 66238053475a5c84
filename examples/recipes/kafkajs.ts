// kafkajs asks its `oauthBearerProvider` for a token when it connects to a broker.
//
//   npx --yes pnpm@12 example examples/run-recipe.ts kafkajs
import { type AccessToken, createServiceAuthFromEnv } from '@service-auth/core';
import { Kafka, type Producer } from 'kafkajs';

const auth = createServiceAuthFromEnv(process.env);
let token: AccessToken | undefined;

const kafka = new Kafka({
  clientId: 'my-application',
  brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','),
  ssl: true, // The token must not go over a connection that others can read.
  sasl: {
    mechanism: 'oauthbearer',
    async oauthBearerProvider() {
      token = await auth.getToken();
      return { value: token.value };
    },
  },
});

/** Connects, and tries once more with another token if the brokers reject the first one. */
async function connect(producer: Producer): Promise<void> {
  try {
    await producer.connect();
  } catch (error) {
    if ((error as Error).name !== 'KafkaJSSASLAuthenticationError' || !token) throw error;
    await auth.invalidate(token); // A broker answers no 401, so nobody else reports this.
    await producer.connect();
  }
}

const producer = kafka.producer();
await connect(producer);
console.log('connected');
await producer.disconnect();
