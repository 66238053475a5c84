import { configError } from '../contract/config-problems.ts';
import { isServiceAuthError, type TokenWait } from '../contract/errors.ts';
import type {
  RepeatedEventFields,
  RepeatedEventType,
  ServiceAuthEvent,
  ServiceAuthEventFields,
  ServiceAuthEventListener,
  ServiceAuthEventType,
  SubscribeOptions,
} from '../contract/events.ts';
import type { CommonSettings } from '../contract/settings.ts';
import { shownTokenName } from '../contract/token-parameters.ts';
import { minute } from '../ledger/units.ts';
import { callIgnoringErrors } from '../platform/call-ignoring-errors.ts';
import type { Instant } from '../platform/instant.ts';
import { outsideRequest } from '../platform/nextjs.ts';
import { warn } from '../platform/warn.ts';
import { randomId } from '../record/seal.ts';

const atOnce = Number.NEGATIVE_INFINITY;

// The 401s of a token and of the token that replaced it can arrive in any order.
const maxReportedTokens = 4;

const noRejections: ReadonlyMap<string, Outcome> = new Map();

type Outcome = ServiceAuthEventFields['token_rejected']['outcome'];

/**
 * When the next event about a cause may come, and how often the cause occurred since the last
 * event.
 */
interface RepeatedNews {
  readonly type: RepeatedEventType;
  nextAt: number;
  count: number;
}

interface Subscription {
  readonly listener: ServiceAuthEventListener;
  /** True if the listener gets the events of operations, too. */
  readonly operations: boolean;
}

const noSubscriptions: readonly Subscription[] = [];
// The types of the events that report operations.
const operations = /^(store_called|acquisition_)/;

/** The listeners of a client, and the name of its process. All tokens of the client share them. */
export class Listeners {
  #instance: string | undefined;
  #subscriptions = noSubscriptions;

  constructor(instance: string | undefined) {
    this.#instance = instance;
  }

  /**
   * The name of this process. An id is drawn at its first use, because workers have no randomness
   * before their first request, and outside of the request that Next.js serves, because it does not
   * prerender a page that draws randomness.
   */
  get instance(): string {
    this.#instance ??= outsideRequest(randomId);
    return this.#instance;
  }

  /** True if anybody listens to the events of operations. */
  get observesOperations(): boolean {
    return this.#subscriptions.some((subscription) => subscription.operations);
  }

  /** Adds a listener. Returns a function that removes it. */
  subscribe(listener: ServiceAuthEventListener, options?: SubscribeOptions): () => void {
    if (typeof listener !== 'function') throw configError([{ option: 'listener', message: 'must be a function' }]);
    const subscription = { listener, operations: options?.operations === true };
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => {
      this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription);
    };
  }

  /** Returns the listeners of this type of event. */
  of(type: ServiceAuthEventType): ServiceAuthEventListener[] {
    const isOperation = operations.test(type);
    return this.#subscriptions.filter((each) => each.operations || !isOperation).map(({ listener }) => listener);
  }
}

/** The events of one token. It remembers its reports, so that the same news is one event. */
export class ClientEvents {
  readonly #settings: CommonSettings;
  readonly #listeners: Listeners;
  #sleep: { readonly since: Instant; readonly ms: number } | undefined;
  #rejections = noRejections;
  #repeated: Map<string, RepeatedNews> | undefined;
  #isBypassed = false;

  constructor(settings: CommonSettings, listeners: Listeners) {
    this.#settings = settings;
    this.#listeners = listeners;
  }

  /** The name of this process. */
  get instance(): string {
    return this.#listeners.instance;
  }

  /** True if anybody listens to the events of operations. */
  get observesOperations(): boolean {
    return this.#listeners.observesOperations;
  }

  /** Reports an event to the listeners that are not in `heard`, and adds them to it. */
  emit<Type extends ServiceAuthEventType>(
    type: Type,
    fields: ServiceAuthEventFields[Type],
    heard?: WeakSet<ServiceAuthEventListener>,
  ): void {
    // A token ends the trouble, so the next refusal is news again.
    if (type === 'token_issued' || type === 'token_adopted') this.#makeDue('issuance_refused');
    const { onEvent, tokenName, clock } = this.#settings;
    const subscribed = this.#listeners.of(type);
    const all = onEvent && !operations.test(type) ? [onEvent, ...subscribed] : subscribed;
    const listeners = all.filter((listener) => !heard?.has(listener));
    if (listeners.length === 0) return;
    const event = {
      type,
      at: clock.now(),
      audience: shownTokenName(tokenName),
      instance: this.#listeners.instance,
      ...fields,
    } as ServiceAuthEvent;
    for (const listener of listeners) {
      heard?.add(listener);
      callIgnoringErrors(listener, Object.freeze(event));
    }
  }

  /**
   * Reports that the store answers again, if this client reported that it failed. Its next failure
   * is news again.
   */
  emitRecovered(): void {
    if (this.#makeDue('store_failed')) this.emit('store_recovered', {});
  }

  /** Reports an event, but at most once a minute for one cause. */
  emitRepeated<Type extends RepeatedEventType>(
    type: Type,
    fields: RepeatedEventFields<Type>,
    cause: string = type,
  ): void {
    this.#repeated ??= new Map();
    const now = this.#settings.clock.monotonic();
    const news = this.#repeated.get(cause) ?? { type, nextAt: now, count: 0 };
    this.#repeated.set(cause, news);
    news.count += 1;
    if (now < news.nextAt) return;
    const { count } = news;
    news.nextAt = now + minute;
    news.count = 0;
    this.emit(type, { ...fields, count } as unknown as ServiceAuthEventFields[Type]);
  }

  /** Lets the next event of a type come at once. Returns whether any came since the last call. */
  #makeDue(type: RepeatedEventType): boolean {
    const told = [...(this.#repeated?.values() ?? [])].filter((news) => news.type === type && news.nextAt !== atOnce);
    for (const news of told) news.nextAt = atOnce;
    return told.length > 0;
  }

  /** Reports that a caller got no token. */
  unavailable(error: unknown): void {
    if (!isServiceAuthError(error) || error.code === 'ERR_CLOSED') return;
    const { code, retryAt } = error;
    const { waitsFor, process, startedAt }: Partial<TokenWait> = code === 'ERR_TOKEN_PENDING' ? error : {};
    const wait = waitsFor && { waitsFor, process, startedAt };
    this.emitRepeated('token_unavailable', { code, retryAt, ...wait }, `${code} ${waitsFor}`);
  }

  /**
   * Reports that the machine slept while a token was cached. `since`: the moment from which the
   * life of the token was counted.
   */
  sleep(since: Instant, machineSleepMs: number): void {
    if (this.#sleep?.since === since && machineSleepMs <= this.#sleep.ms) return;
    // Report further sleep only if it is longer by a minute.
    this.#sleep = { since, ms: machineSleepMs + minute };
    this.emit('clock_anomaly', { clock: 'machine', byMs: Math.round(machineSleepMs) });
  }

  /**
   * Reports that a request to `baseUrl` had an `Authorization` of its own. One report is enough to
   * find out which code sets it.
   */
  bypass(baseUrl: string | undefined): void {
    if (this.#isBypassed) return;
    this.#isBypassed = true;
    this.emit('token_bypassed', {});
    warn(
      `A request to ${baseUrl} had an Authorization of its own, so it was sent without the token. Remove the ` +
        'interceptor or default header that sets it: its tokens are not counted. If it is intended, send it with ' +
        'serviceAuth: false, or without the adapter.',
      'SERVICE_AUTH_TOKEN_BYPASSED',
    );
  }

  /**
   * Reports a 401. All 401s with the same outcome are one event: a failing API must not flood the
   * listener.
   */
  rejection(tokenId: string, outcome: Outcome): void {
    if (this.#rejections.get(tokenId) === outcome) return;
    this.#rejections = new Map([...this.#rejections, [tokenId, outcome] as const].slice(-maxReportedTokens));
    this.emit('token_rejected', { tokenId, outcome });
  }
}
