import { notify, type ServiceAuthEvent, type ServiceAuthEventFields, type ServiceAuthEventType } from './events.ts';
import type { Instant } from './instant.ts';
import type { ServiceAuthOptions } from './options.ts';
import { randomId } from './seal.ts';
import type { ClientOptions, CommonSettings, Settings } from './settings.ts';

const minute = 60_000;

// The 401s of a token and of the token that replaced it can arrive in any order.
const maxReportedTokens = 4;

const noRejections: ReadonlyMap<string, Outcome> = new Map();

type Outcome = ServiceAuthEventFields['token_rejected']['outcome'];

/** The settings of one client, and its events. It remembers what it reported, so that the same news are one event. */
export class ClientSettings {
  readonly common: CommonSettings;
  readonly #clientId: string;
  readonly #clientSecret: ServiceAuthOptions['clientSecret'];
  #instance: string | undefined;
  #sleep: { readonly since: Instant; readonly ms: number } | undefined;
  #rejections = noRejections;

  constructor({ common, clientId, clientSecret, instance }: ClientOptions) {
    this.common = common;
    this.#clientId = clientId;
    this.#clientSecret = clientSecret;
    this.#instance = instance;
  }

  /** Everything that an attempt needs to know. */
  forAttempt(): Settings {
    const client = this;
    return {
      ...this.common,
      clientId: this.#clientId,
      clientSecret: this.#clientSecret,
      emit: (type, fields) => this.emit(type, fields),
      get instance() {
        return client.instance;
      },
    };
  }

  /** The name of this process. An id is drawn at its first use, because workers have no randomness before their first request. */
  get instance(): string {
    this.#instance ??= randomId();
    return this.#instance;
  }

  /** Reports an event to the listener, if there is one. */
  emit<Type extends ServiceAuthEventType>(type: Type, fields: ServiceAuthEventFields[Type]): void {
    const { onEvent, audience, clock } = this.common;
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
