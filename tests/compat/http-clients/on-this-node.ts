// The contract with every client that runs on this version of Node: `pnpm check packed` runs it against the packed packages, from a folder
// where they and the clients are installed. With `newest` or `older` it runs with these clients alone. Without a test runner, for those of Node 20 to 26 take longer than the cases.
import { readFileSync } from 'node:fs';
import { httpClientContract } from '@service-auth/testing';
import { axiosClients } from './clients/axios.ts';
import { type Client, isNewest } from './clients/client.ts';
import { fetchClients } from './clients/fetch.ts';
import { gotClients } from './clients/got.ts';
import { undiciClients } from './clients/undici.ts';
import { reportOf } from './report.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** The clients state the oldest Node they run on, and no more: `>=22.19.0`. */
function runsHere({ dependency }: Client): boolean {
  if (!dependency) return true;
  const { engines } = JSON.parse(readFileSync(`node_modules/${dependency}/package.json`, 'utf8'));
  const [neededMajor = 0, neededMinor = 0] = (engines?.node?.match(/\d+/g) ?? []).map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

const clients = [...axiosClients, ...gotClients, ...fetchClients, ...undiciClients];
const missing = clients.filter((client) => !runsHere(client)).map(({ name }) => name);
const [, , asked] = process.argv;
const isAsked = (client: Client) => asked === undefined || isNewest(client) === (asked === 'newest');
const cases = [];
for (const { name, load } of clients.filter(runsHere).filter(isAsked)) {
  for (const each of httpClientContract(await load(), { isRejected: true }))
    cases.push({ ...each, name: `${each.name}, with ${name}` });
}
console.log(JSON.stringify({ ...(await reportOf(cases)), missing }));
