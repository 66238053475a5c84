import { createServiceAuth } from '@service-auth/core';
import { type Plan, type Report, run } from './run.ts';
import { shrink } from './shrink.ts';

/** Seeds `first` to `last` of a mode. */
export interface Campaign {
  readonly mode: string;
  readonly first: number;
  readonly last: number;
}

/** The sums over all seeds of a campaign. */
export interface Figures {
  readonly seeds: number;
  readonly findings: readonly Finding[];
  readonly virtualYears: number;
  readonly issued: number;
  readonly faults: number;
  readonly events: number;
  readonly counts: ReadonlyMap<string, number>;
}

/** A broken promise. */
export interface Finding {
  readonly plan: Plan;
  readonly violation: string;
  /** A smaller plan that breaks the same promise. */
  readonly smaller: Plan;
}

const yearMs = 365 * 24 * 3_600_000;
const maxShrunk = 2;

const nothing = { seeds: 0, virtualYears: 0, issued: 0, faults: 0, events: 0 };
export const noFigures: Figures = { ...nothing, findings: [], counts: new Map() };

/** Runs all seeds of a campaign. The first that break a promise are shrunk; `shrinks` false: none. */
export async function runCampaign({ mode, first, last }: Campaign, shrinks: boolean): Promise<Figures> {
  const rerun = (plan: Plan): Promise<Report> => run(plan, createServiceAuth);
  let figures = noFigures;
  for (let seed = first; seed <= last; seed++) {
    const plan = { mode, seed };
    const report = await rerun(plan);
    const [violation] = report.violations;
    const shrinksThis = shrinks && figures.findings.length < maxShrunk;
    const smaller = violation !== undefined && shrinksThis ? await shrink(plan, report, rerun) : plan;
    const { issued, faults, events, counts } = report;
    const findings = violation === undefined ? [] : [{ plan, violation, smaller }];
    figures = sum(figures, {
      seeds: 1,
      findings,
      virtualYears: report.virtualMs / yearMs,
      issued,
      faults,
      events,
      counts,
    });
  }
  return figures;
}

export function sum(one: Figures, other: Figures): Figures {
  const counts = new Map(one.counts);
  for (const [name, count] of other.counts) counts.set(name, (counts.get(name) ?? 0) + count);
  return {
    seeds: one.seeds + other.seeds,
    findings: [...one.findings, ...other.findings],
    virtualYears: one.virtualYears + other.virtualYears,
    issued: one.issued + other.issued,
    faults: one.faults + other.faults,
    events: one.events + other.events,
    counts,
  };
}
