import type { FleetPicture, LogEntry, ProcessPicture } from '../budget/picture.ts';
import type { IncidentKind } from '../budget/settings.ts';

/** The names of what can happen. */
export const incidentNames: Readonly<Record<IncidentKind, string>> = {
  deploy: 'Deploy',
  crash: 'Kill a process',
  storm: '401 storm',
  slow: 'Slow token endpoint',
  failover: 'Store fails over',
};

/** Writes milliseconds since midnight as `14:05`. */
export function clock(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const two = (value: number) => `${value}`.padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Says whether the endpoint refused tokens to a fleet. */
export function outcome({ refused, refusedAt, lockedOutAt }: FleetPicture): string {
  if (lockedOutAt !== undefined) return `Locked out since ${clock(lockedOutAt)}: no token is left for today.`;
  if (refusedAt === undefined) return 'No token was refused.';
  if (refused === 1) return `The endpoint refused a request at ${clock(refusedAt)}.`;
  return `The endpoint refused ${refused.toLocaleString('en')} requests, the first at ${clock(refusedAt)}.`;
}

/** Says how a fleet is. */
export function summary(name: string, fleet: FleetPicture, limit: number): string {
  const { slots, processes } = fleet;
  const calling = processes.filter(({ state }) => state === 'calling').length;
  return `${name}: ${slots.length} of ${limit} tokens spent, ${calling} of ${processes.length} processes get answers. ${outcome(fleet)}`;
}

const tokenTexts = {
  requested: ', with a token that it requested',
  adopted: ', with a token that another process requested',
};

/** Says how a process is. */
export function processText({ state, token }: ProcessPicture, index: number): string {
  return `Process ${index + 1}: ${state}${token ? tokenTexts[token] : ''}`;
}

const sentences: Readonly<Record<string, string>> = {
  token_issued: 'got a token from the endpoint',
  token_adopted: 'took the token that another process had requested',
  token_rejected: 'told the fleet that the API rejects the token',
  token_request_failed: 'got no token from the endpoint',
  issuance_refused: 'did not ask, to spare the budget',
  token_unavailable: 'has no token for its callers',
  store_failed: 'could not reach the store',
  store_recovered: 'reaches the store again',
  ledger_lost: 'put back what the store had lost',
  token_reset: 'reset the token',
};

const reasons: Readonly<Record<string, string>> = {
  cold: 'there was none',
  refresh: 'the old one would end soon',
  expired: 'the old one had ended',
  rejected: 'the API had rejected the old one',
};

/** Says what happened in a process. */
export function sentence({ at, process, type, reason }: LogEntry): string {
  const because = reason && reasons[reason] ? `: ${reasons[reason]}` : '';
  return `${clock(at)} Process ${process.split('.')[0]} ${sentences[type] ?? type}${because}.`;
}
