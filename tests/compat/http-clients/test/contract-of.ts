import { httpClientContract } from '@service-auth/testing';
import { describe, test } from 'vitest';
import { type Client, isNewest } from '../clients/client.ts';

const older = process.env['CLIENTS'] === 'older';

/** Those of `clients` that this run is about: the newest versions, or all others. */
export function clientsOfThisRun(clients: readonly Client[]): readonly Client[] {
  return clients.filter((client) => isNewest(client) !== older);
}

/** Defines a test for each case of the contract with each client of this run. */
export async function testContractOf(clients: readonly Client[]): Promise<void> {
  for (const client of clientsOfThisRun(clients)) {
    const cases = httpClientContract(await client.load(), { isRejected: true });
    describe(`the contract of HTTP clients, with ${client.name}`, () => {
      for (const { name, run } of cases) test(name, run);
    });
  }
}
