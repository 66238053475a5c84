import { axiosClients } from '../clients/axios.ts';
import { testContractOf } from './contract-of.ts';

await testContractOf(axiosClients);
