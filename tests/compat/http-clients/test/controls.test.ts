import { controls, httpClientContract, httpClientMistakes } from '@service-auth/testing';
import { describe, test } from 'vitest';
import { axiosClients } from '../clients/axios.ts';
import { clientsOfThisRun } from './contract-of.ts';

// One client of somebody else's: the mistakes are wrappers, and must work with any.
for (const client of clientsOfThisRun(axiosClients).slice(0, 1)) {
  const cases = controls(httpClientContract, await client.load(), httpClientMistakes);
  describe(`the negative controls of the contract, with ${client.name}`, () => {
    for (const { name, run } of cases) test(name, { timeout: 20_000 }, run);
  });
}
