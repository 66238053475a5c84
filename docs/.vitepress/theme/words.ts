import type { FleetPicture, LogEntry, ProcessPicture } from '../budget/picture.ts';
import type { IncidentKind, Settings } from '../budget/settings.ts';

/** The names of what can happen. */
export const incidentNames: Readonly<Record<IncidentKind, string>> = {
  deploy: 'Deploy',
  crash: 'Kill a process',
  storm: '20 minutes of 401s',
  slow: 'Slow provider',
  failover: 'Store fails over',
};

/** Writes milliseconds since midnight as `14:05`. */
export function clock(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const two = (value: number) => `${value}`.padStart(2, '0');
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Writes minutes as `24 hours`. */
export function windowName(minutes: number): string {
  return minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;
}

/** Says what was spent of a limit: `7 of 150 tokens`. */
export function spentText({ spent }: FleetPicture, limit: number, { requests, window }: Settings): string {
  const unit = requests === 1 ? 'requests' : 'tokens';
  const recent = window < 1_440 ? ` in the last ${windowName(window)}` : '';
  return `${spent.toLocaleString('en')} of ${limit.toLocaleString('en')} ${unit} spent${recent}`;
}

/** Says what happens on a day. */
export function dayText({ processes, deploys, crashes, limit, window, hourly, requests, incidents }: Settings): string {
  const count = (number: number, one: string, many: string) =>
    `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
  const some = (kind: IncidentKind, one: string) => {
    const { length } = incidents.filter((incident) => incident.kind === kind);
    return length === 0 ? [] : [length === 1 ? one : `${length} times ${one}`];
  };
  const happens = [
    count(deploys, 'deploy', 'deploys'),
    count(crashes, 'crash', 'crashes'),
    ...some('storm', '20 minutes of 401s'),
    ...some('slow', 'half an hour of slow answers'),
    ...some('failover', 'a failover of the store'),
  ];
  const unit = requests === 1 ? 'token request' : 'token';
  const perHour = hourly > 0 && window > 60 ? `, and ${hourly} an hour` : '';
  const allows = `${count(limit, unit, `${unit}s`)} in ${windowName(window)}${perHour}`;
  return `Two fleets of ${count(processes, 'process', 'processes')} live through the same day: ${happens.join(', ')}. Their provider allows each of them ${allows}.`;
}

/** Says whether the provider refused tokens to a fleet. */
export function outcome({ refused, refusedAt, lockedOutAt }: FleetPicture): string {
  if (lockedOutAt !== undefined) return `Locked out since ${clock(lockedOutAt)}: no token is left for today.`;
  if (refusedAt === undefined) return 'No token was refused.';
  if (refused === 1) return `The provider refused a request at ${clock(refusedAt)}.`;
  return `The provider refused ${refused.toLocaleString('en')} requests, the first at ${clock(refusedAt)}.`;
}

/** Says how a fleet is. */
export function summary(name: string, fleet: FleetPicture, limit: number, settings: Settings): string {
  const { processes } = fleet;
  const calling = processes.filter(({ state }) => state === 'calling').length;
  return `${name}: ${spentText(fleet, limit, settings)}, ${calling} of ${processes.length} processes get answers. ${outcome(fleet)}`;
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
  token_issued: 'got a token from the provider',
  token_adopted: 'took the token that another process had requested',
  token_rejected: 'told the fleet that the API rejects the token',
  token_request_failed: 'got no token from the provider',
  issuance_refused: 'did not ask, to stay within the limit',
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
