import { readFileSync, writeFileSync } from 'node:fs';
import type { Finding } from './campaign.ts';
import type { Plan } from './run.ts';

/** A plan that broke a promise once. The tests run it for ever. */
interface KeptPlan {
  readonly broke: string;
  readonly plan: Plan;
}

const file = new URL('../kept-plans.json', import.meta.url);

export function keptPlans(): KeptPlan[] {
  return JSON.parse(readFileSync(file, 'utf8')) as KeptPlan[];
}

/** Keeps what was found, as small as it was made. */
export function keep(findings: readonly Finding[]): void {
  if (findings.length === 0) return;
  const kept = [...keptPlans(), ...findings.map(({ violation, smaller }) => ({ broke: violation, plan: smaller }))];
  writeFileSync(file, `${JSON.stringify(kept, undefined, 2)}\n`);
}
