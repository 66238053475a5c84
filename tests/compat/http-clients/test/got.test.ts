import { gotClients } from '../clients/got.ts';
import { testContractOf } from './contract-of.ts';

await testContractOf(gotClients);
