import type { ContractCase } from '@service-auth/testing';

/** The results of the cases. */
export interface ContractReport {
  readonly passed: number;
  readonly problems: readonly string[];
  /** Clients that do not run on this Node. */
  readonly missing?: readonly string[];
}

/** Runs the cases, one after another. */
export async function reportOf(cases: readonly ContractCase[]): Promise<ContractReport> {
  const problems: string[] = [];
  for (const { name, run } of cases) {
    await run().catch((error: Error) => problems.push(`${name}: ${error.stack ?? error}`));
  }
  return { passed: cases.length - problems.length, problems };
}
