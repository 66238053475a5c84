import { fetchClients } from '../clients/fetch.ts';
import { testContractOf } from './contract-of.ts';

await testContractOf(fetchClients);
