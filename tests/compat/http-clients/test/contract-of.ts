import { httpClientContract } from '@service-auth/testing';
import { describe, test } from 'vitest';
import type { Client } from '../clients/client.ts';

// An older version is installed under a name of its own: `got-15`.
const isNewest = ({ dependency = '' }: Client) => !dependency.includes('-');
const older = process.env['CLIENTS'] === 'older';

/** Defines a test for each case of the contract with each client: with those of the newest versions, or with all others. */
export async function testContractOf(clients: readonly Client[]): Promise<void> {
  for (const client of clients.filter((client) => isNewest(client) !== older)) {
    const cases = httpClientContract(await client.load(), client.traits);
    describe(`the contract of HTTP clients, with ${client.name}`, () => {
      for (const { name, run } of cases) test(name, run);
    });
  }
}
