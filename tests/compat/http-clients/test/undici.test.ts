import { undiciClients } from '../clients/undici.ts';
import { testContractOf } from './contract-of.ts';

await testContractOf(undiciClients);
