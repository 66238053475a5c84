import type { ServiceAuthEventFields, ServiceAuthEventListener, ServiceAuthEventType } from '../contract/events.ts';
import type { CommonSettings } from '../contract/settings.ts';
import type { StoreSnapshot } from '../contract/store.ts';
import { foreignTerms, type Situation } from '../ledger/limits.ts';
import { type Present, type Remembered, tolerableMs } from '../ledger/present.ts';
import type { Callers } from './store-calls.ts';

const maxWarnings = 16;

/** The listeners that heard a piece of news. */
type Heard = WeakSet<ServiceAuthEventListener>;

/**
 * Reports what reads of a record revealed. Each listener hears each piece of news once, even if
 * many clients have that listener.
 */
export class RecordEvents {
  readonly #settings: CommonSettings;
  #warned: Map<string, Heard> | undefined;
  #damage: Heard | undefined;
  #differing: { readonly terms: string; readonly heard: Heard } | undefined;

  constructor(settings: CommonSettings) {
    this.#settings = settings;
  }

  /** Reports that the record cannot be read. */
  damaged(callers: Callers, key: string): void {
    this.#damage ??= new WeakSet();
    tell(callers, 'store_damaged', { key }, this.#damage);
  }

  /** Reports and returns the store's warnings that the record is in danger. */
  read(callers: Callers, { warnings = [] }: StoreSnapshot): readonly string[] {
    this.#damage = undefined;
    for (const warning of warnings) {
      this.#warned ??= new Map();
      const heard = this.#warned.get(warning) ?? new WeakSet();
      // A store may word its warnings differently each time.
      if (this.#warned.size >= maxWarnings && !this.#warned.has(warning)) continue;
      this.#warned.set(warning, heard);
      tell(callers, 'store_warning', { warning }, heard);
    }
    return warnings;
  }

  /**
   * Reports a loss of the record, and steps of the store's clock, since `before`. `storeNow`: the
   * time of that clock.
   */
  changes(callers: Callers, found: Present, before: Remembered | undefined, storeNow: number): void {
    if (found.isRecordLost) tell(callers, 'ledger_lost', { restored: found.restored });
    const backMs = Math.max(found.clockBackMs, before ? before.now + before.minElapsedMs - storeNow : 0);
    const aheadMs = before ? storeNow - before.now - before.maxElapsedMs : 0;
    if (Math.max(backMs, aheadMs) <= tolerableMs) return;
    const byMs = backMs > tolerableMs ? -backMs : aheadMs;
    tell(callers, 'clock_anomaly', { clock: 'store', byMs: Math.round(byMs) });
  }

  /** Reports other agreements than that of this process. */
  agreements(callers: Callers, situation: Situation): void {
    const { clock } = this.#settings;
    const { now, limits } = situation;
    const others = limits.terms.length > 0 ? foreignTerms(situation, now) : [];
    const terms = others
      .map(({ tokens, windowMs, reserve, counts }) => `${tokens}/${windowMs}/${reserve}/${counts}`)
      .join();
    if (this.#differing?.terms !== terms) this.#differing = terms ? { terms, heard: new WeakSet() } : undefined;
    if (!this.#differing) return;
    const shown = others.map(({ by, seenAt, ...term }) => {
      return { ...term, instance: by, seenAt: clock.now() + Math.round(seenAt - now) };
    });
    tell(callers, 'agreement_differs', { own: limits.terms, others: shown }, this.#differing.heard);
  }
}

function tell<Type extends ServiceAuthEventType>(
  callers: Callers,
  type: Type,
  fields: ServiceAuthEventFields[Type],
  heard: Heard = new WeakSet(),
): void {
  for (const { emit } of callers) emit(type, fields, heard);
}
