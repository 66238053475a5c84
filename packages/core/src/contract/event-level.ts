import type { ServiceAuthEvent, ServiceAuthEventType } from './events.ts';

/** How urgent an event is. The names are those of pino, winston and the console. */
export type ServiceAuthEventLevel = 'error' | 'warn' | 'info' | 'debug';

type EventOf<Type extends ServiceAuthEventType> = Extract<ServiceAuthEvent, { readonly type: Type }>;

type Levels = {
  readonly [Type in ServiceAuthEventType]: ServiceAuthEventLevel | ((event: EventOf<Type>) => ServiceAuthEventLevel);
};

const levels: Levels = {
  token_issued: ({ warnings }) => (warnings.length > 0 ? 'warn' : 'info'),
  token_adopted: 'debug',
  // An outage ends by itself. Wrong credentials do not, even if the present token still works.
  token_request_failed: ({ code }) => (code === 'ERR_CREDENTIALS_REJECTED' ? 'error' : 'warn'),
  token_unavailable: 'error',
  // A request that was under way may still have had the token before.
  token_rejected: ({ outcome }) => (outcome === 'replaced' ? 'debug' : 'warn'),
  token_bypassed: 'warn',
  token_reset: 'warn',
  issuance_refused: ({ reason }) => (reason === 'refresh' ? 'warn' : 'error'),
  issuance_over_limit: 'warn',
  agreement_differs: 'warn',
  quota_observed: ({ foreign, remaining }) => (foreign || remaining <= 0 ? 'warn' : 'debug'),
  client_secret_failed: 'warn',
  store_failed: 'warn',
  store_recovered: 'info',
  store_damaged: 'error',
  store_warning: 'warn',
  ledger_lost: 'error',
  // A notebook sleeps every day.
  clock_anomaly: ({ clock }) => (clock === 'machine' ? 'info' : 'warn'),
  store_called: 'debug',
  acquisition_started: 'debug',
  acquisition_ended: 'debug',
};

/**
 * Returns the level at which to log an event. `error`: someone has to act, because callers get no
 * token, the credentials are wrong, or the record is lost or damaged. `warn`: someone should look
 * at it the next day. A day without failures has one or two events of level `info`.
 */
export function eventLevel(event: ServiceAuthEvent): ServiceAuthEventLevel {
  // Another copy of core in the process may be newer, and have further events.
  const level = Object.hasOwn(levels, event.type) ? levels[event.type] : 'info';
  return typeof level === 'function' ? (level as (event: ServiceAuthEvent) => ServiceAuthEventLevel)(event) : level;
}
