import {
  createServiceAuth,
  type IssuanceLimit,
  type ServiceAuthEvent,
  type Store,
  type Transport,
} from '@service-auth/core';
import { sendWithToken } from '@service-auth/core/http';
import type { Machine } from '../../../tests/protocol/src/machine.ts';
import type { SimulatedStore } from '../../../tests/protocol/src/simulated-store.ts';
import type { World } from '../../../tests/protocol/src/world.ts';
import type { Program } from './fleet.ts';
import { createNaiveClient } from './naive-client.ts';
import { credentials, type Provider } from './provider.ts';

/** The state of everything between the processes, the store and the endpoint. */
export interface Network {
  /** How long the token endpoint takes. */
  answerMs: number;
  storeIsDown: boolean;
}

export const authUrl = 'https://auth.example.com';

const storeCallMs = 2;

/** Runs a program with core, as it is published, and with the rules of our HTTP adapters. */
export function withCore(
  world: World,
  network: Network,
  provider: Provider,
  simulated: SimulatedStore,
  issuanceLimit: IssuanceLimit,
  heard: (event: ServiceAuthEvent) => void,
): (machine: Machine) => Program {
  return (machine) => {
    const auth = createServiceAuth({
      ...credentials,
      authUrl,
      issuanceLimit,
      store: storeOf(machine),
      transport: transportOf(machine),
      clock: machine.clock,
      instance: machine.name,
      onEvent: heard,
    });
    let sent: string | undefined;
    return {
      call() {
        sent = undefined;
        return sendWithToken(auth, {
          send: async ({ value }) => {
            sent = value;
            return provider.status(value);
          },
          isRejected: (status) => status === 401,
          canResend: () => true,
          discard: () => {},
        });
      },
      token: () => sent,
      close: () => auth.close(),
    };
  };

  function storeOf(machine: Machine): Store {
    const call = <Result>(execute: () => Result): Promise<Result> =>
      new Promise((resolve, reject) => {
        if (!machine.alive) return;
        const isDown = network.storeIsDown;
        world.at(world.now + storeCallMs, () => {
          const result = isDown ? undefined : execute();
          const reply = () => (result ? resolve(result) : reject(new Error('The store fails over.')));
          world.at(world.now + storeCallMs, () => machine.deliver(reply));
        });
      });
    return {
      durability: 'replicated',
      load: () => call(() => simulated.load('left')),
      swap: (_key, change) => call(() => simulated.swap('left', change)),
    };
  }

  function transportOf(machine: Machine): Transport {
    return async ({ body }) => {
      const answer = await askEndpoint(world, network, provider, machine, body);
      return { ...answer, headers: { 'content-type': 'application/json' } };
    };
  }
}

/** Runs a program with the naive client. */
export function withNaiveClient(world: World, network: Network, provider: Provider): (machine: Machine) => Program {
  return (machine) => {
    const { audience, clientId, clientSecret } = credentials;
    const body = { grant_type: 'client_credentials', audience, client_id: clientId, client_secret: clientSecret };
    const client = createNaiveClient(async () => {
      const answer = await askEndpoint(world, network, provider, machine, JSON.stringify(body));
      if (answer.status !== 200) throw new Error(`The token endpoint answered ${answer.status}.`);
      return (JSON.parse(answer.body) as { access_token: string }).access_token;
    });
    return {
      async call() {
        const status = provider.status(await client.getToken());
        if (status === 200) return status;
        client.onUnauthorized();
        return provider.status(await client.getToken());
      },
      token: client.peekToken,
      close: async () => {},
    };
  };
}

/** Sends a token request. A process that died gets no answer. */
function askEndpoint(
  world: World,
  { answerMs }: Network,
  provider: Provider,
  machine: Machine,
  body: string,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    world.at(world.now + answerMs / 2, () => {
      const answer = provider.answer(body, machine.name);
      world.at(world.now + answerMs / 2, () => machine.deliver(() => resolve(answer)));
    });
  });
}
