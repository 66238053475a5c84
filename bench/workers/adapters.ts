import { type CreateContenders, createTarget } from '../clients/target.ts';
import type { Client } from '../harness/client.ts';
import { type ComparisonOptions, compare } from '../harness/compare.ts';
import type { Rounds } from '../harness/statistics.ts';

export interface AdaptersInput {
  /** A module of `clients/`. */
  readonly name: string;
  readonly client: Client;
  readonly isMock: boolean;
  readonly withPeers: boolean;
  readonly comparison: ComparisonOptions;
}

/** One HTTP client sends the same request in several ways. */
export default async function adapters({
  name,
  client,
  isMock,
  withPeers,
  comparison,
}: AdaptersInput): Promise<Rounds> {
  const module: unknown = await import(`../clients/${name}.ts`);
  const { createContenders } = module as { createContenders: CreateContenders };
  const contenders = await createContenders(await createTarget(client, isMock, withPeers));
  return compare(contenders, comparison);
}
