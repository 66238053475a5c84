import { createClient } from '@redis/client';
import type { Host, RedisAddress } from './redis-address.ts';

/**
 * Asks all Sentinels at once which server is the primary one, and takes the first answer. An error
 * has advice for the reader. A Sentinel often has no password, and otherwise that of the servers.
 */
export async function primaryOf(address: RedisAddress, name: string): Promise<Host> {
  const asked = address.hosts.map(async (sentinel) => {
    try {
      return await ask(address, sentinel, name, {});
    } catch (error) {
      if (!String(Object(error).message).startsWith('NOAUTH')) throw error;
      return ask(address, sentinel, name, address.credentials);
    }
  });
  try {
    return await Promise.any(asked);
  } catch (error) {
    // One that answered tells more than one that did not.
    const errors = (error as AggregateError).errors as readonly { advice?: string }[];
    throw errors.find(({ advice }) => advice !== undefined) ?? errors[0];
  }
}

async function ask(
  address: RedisAddress,
  sentinel: Host,
  name: string,
  credentials: RedisAddress['credentials'],
): Promise<Host> {
  const client = createClient({ ...credentials, socket: { ...address.socket, ...sentinel } });
  client.on('error', () => {});
  // A Sentinel that accepts the connection and never answers must not keep it.
  const silent = setTimeout(() => client.isOpen && client.destroy(), 2_000);
  try {
    await client.connect();
    const answer = await client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]);
    if (!Array.isArray(answer)) throw advised(`the Sentinels don't know a primary server named ${name}.`);
    return { host: String(answer[0]), port: Number(answer[1]) };
  } catch (error) {
    if (!/unknown command/i.test(String(Object(error).message))) throw error;
    throw advised(`${sentinel.host}:${sentinel.port} is no Sentinel.`);
  } finally {
    clearTimeout(silent);
    if (client.isOpen) client.destroy();
  }
}

function advised(advice: string): Error {
  return Object.assign(new Error('no primary server'), { advice });
}
