import { callFaults, type Fault, timedFaults } from './faults.ts';
import type { Plan, Report } from './run.ts';

/** The name of the promise that a violation broke. */
export function promiseOf(violation: string): string {
  return violation.split(':', 1)[0] ?? '';
}

/** Finds a smaller plan that breaks the same promise: fewer kinds of faults, fewer faults, fewer processes, a shorter time. */
export async function shrink(failing: Plan, report: Report, rerun: (plan: Plan) => Promise<Report>): Promise<Plan> {
  const promise = promiseOf(report.violations[0] ?? '');
  const fails = async (plan: Plan) =>
    (await rerun(plan)).violations.some((violation) => promiseOf(violation) === promise);
  let best = failing;

  async function attempt(change: Partial<Plan>): Promise<boolean> {
    const plan = { ...best, ...change };
    if (!(await fails(plan))) return false;
    best = plan;
    return true;
  }

  for (const fault of [...timedFaults, ...callFaults]) {
    if ((report.counts.get(fault) ?? 0) > 0) await attempt({ without: [...(best.without ?? []), fault as Fault] });
  }
  for (let processes = 1; processes < (best.processes ?? 6); processes++) if (await attempt({ processes })) break;
  // The fewest faults, by halving; a run with fewer faults is another run, so this finds a small number and not the smallest.
  let [least, most] = [0, (await rerun(best)).faults];
  while (least < most) {
    const maxFaults = Math.floor((least + most) / 2);
    if (await attempt({ maxFaults })) most = maxFaults;
    else least = maxFaults + 1;
  }
  for (let hours = 64; hours >= 1; hours /= 2) await attempt({ faultsForMs: hours * 3_600_000 });
  return best;
}
