import type { UsableToken } from './cached-token.ts';
import { notify, type ServiceAuthEvent, type ServiceAuthEventFields, type ServiceAuthEventType } from './events.ts';
import type { Instant } from './instant.ts';
import type { Denial } from './ledger/decide.ts';
import { spent } from './ledger/limits.ts';
import type { IssuanceReason } from './ledger/record.ts';
import { randomId } from './seal.ts';
import type { ClientOptions, CommonSettings, Settings } from './settings.ts';
import { toLocalTime, type View } from './shared-ledger.ts';
import type { IssuedToken } from './token-response.ts';

const minute = 60_000;

// The 401s of a token and of the token that replaced it can arrive in any order.
const maxReportedTokens = 4;

const noRejections: ReadonlyMap<string, Outcome> = new Map();

type Outcome = ServiceAuthEventFields['token_rejected']['outcome'];

/** The events of a client. It remembers what it reported, so that the same news are one event. */
export class Reports {
  readonly #settings: CommonSettings;
  #instance: string | undefined;
  #sleep: { readonly since: Instant; readonly ms: number } | undefined;
  #rejections = noRejections;

  constructor({ common, instance }: ClientOptions) {
    this.#settings = common;
    this.#instance = instance;
  }

  /** The name of this process. An id is drawn at its first use, because workers have no randomness before their first request. */
  get instance(): string {
    this.#instance ??= randomId();
    return this.#instance;
  }

  /** Reports an event to the listener, if there is one. */
  emit<Type extends ServiceAuthEventType>(type: Type, fields: ServiceAuthEventFields[Type]): void {
    const { onEvent, audience, clock } = this.#settings;
    if (!onEvent) return;
    notify(onEvent, { type, at: clock.now(), audience, instance: this.instance, ...fields } as ServiceAuthEvent);
  }

  /** Reports that the machine slept while a token was cached. `since`: the moment from which the life of the token was counted. */
  sleep(since: Instant, sleptMs: number): void {
    if (this.#sleep?.since === since && sleptMs <= this.#sleep.ms) return;
    // Report further sleep only if it is longer by a minute.
    this.#sleep = { since, ms: sleptMs + minute };
    this.emit('clock_anomaly', { clock: 'machine', byMs: Math.round(sleptMs) });
  }

  /** Reports a 401. All 401s with the same outcome are one event: a failing API must not flood the listener. */
  rejection(tokenId: string, outcome: Outcome): void {
    if (this.#rejections.get(tokenId) === outcome) return;
    this.#rejections = new Map([...this.#rejections, [tokenId, outcome] as const].slice(-maxReportedTokens));
    this.emit('token_rejected', { tokenId, outcome });
  }
}

/** Reports a token that was issued to this process. `view`: the record with it. */
export function reportIssuance(
  { emit, limits }: Settings,
  reason: IssuanceReason,
  { token }: UsableToken,
  { warnings }: IssuedToken,
  view: View,
): void {
  const { used } = spent(view.record);
  const { id: tokenId, expiresAt } = token;
  emit('token_issued', { reason, tokenId, expiresAt, used, usable: limits.usable, warnings });
}

/** Reports that the budget did not allow a token. */
export function reportDenial(
  { emit, limits, clock }: Settings,
  reason: IssuanceReason,
  { retryAt }: Denial,
  view: View,
): void {
  const { used } = spent(view.record);
  emit('issuance_refused', { reason, retryAt: toLocalTime(retryAt, view, clock), limit: limits.limit, used });
}
