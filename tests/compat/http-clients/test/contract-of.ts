import { httpClientContract } from '@service-auth/testing';
import { describe, test } from 'vitest';
import type { Client } from '../clients/client.ts';

/** Defines a test for each case of the contract with each client. */
export async function testContractOf(clients: readonly Client[]): Promise<void> {
  for (const client of clients) {
    const cases = httpClientContract(await client.load(), client.traits);
    describe(`the contract of HTTP clients, with ${client.name}`, () => {
      for (const { name, run } of cases) test(name, run);
    });
  }
}
