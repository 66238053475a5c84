// The contract with every client that runs on this version of Node, by Node's own test runner: scripts/check-packed.ts runs it against
// the packed packages, from a folder where they and the clients are installed.
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { httpClientContract } from '@service-auth/testing';
import { axiosClients } from './clients/axios.ts';
import type { Client } from './clients/client.ts';
import { fetchClients } from './clients/fetch.ts';
import { gotClients } from './clients/got.ts';
import { undiciClients } from './clients/undici.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** The clients state the oldest Node they run on, and no more: `>=22.19.0`. */
function runsHere({ dependency }: Client): boolean {
  if (!dependency) return true;
  const { engines } = JSON.parse(readFileSync(`node_modules/${dependency}/package.json`, 'utf8'));
  const [neededMajor = 0, neededMinor = 0] = (engines?.node?.match(/\d+/g) ?? []).map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

for (const client of [...axiosClients, ...gotClients, ...fetchClients, ...undiciClients]) {
  if (!runsHere(client)) {
    console.log(`not here: ${client.name}`);
    continue;
  }
  for (const { name, run } of httpClientContract(await client.load(), client.traits)) {
    void test(`${name}, with ${client.name}`, run);
  }
}
