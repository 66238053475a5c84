import type { Failure, Issuance, Usage } from '../report/usage.ts';

export interface Circumstances {
  /** Epoch milliseconds of this machine's clock. */
  readonly now: number;
  readonly audiences: readonly string[];
  readonly failures: readonly Failure[];
  /** What people call the settings of the client. Default: the provider's settings. */
  readonly settings?: string | undefined;
}

/** A cause that the record shows. */
export interface Finding {
  /** The heading on the page of the runbook, and its anchor. */
  readonly cause: Cause;
  /** A few words for monitoring. It tells only of causes that have a series. */
  readonly short?: string;
  readonly evidence: string;
  readonly remedy: string;
  /** The share of the tokens that it explains, from 0 to 1. More than 1: it refuses callers now. */
  readonly weight: number;
  /** The tokens that it explains. */
  readonly series?: readonly Issuance[];
  /** The tokens that show whom it concerns, if they are not those that it explains. */
  readonly about?: readonly Issuance[];
  /** The audiences that it concerns, if no tokens show them. None: all. */
  readonly audiences?: readonly string[];
  /** The library spaces these tokens, so they do not spend the whole budget. */
  readonly isBounded?: boolean;
}

export type Cause =
  | '401-storm'
  | 'credentials-rejected'
  | 'deaths'
  | 'different-keys'
  | 'dying-tokens'
  | 'low-limit'
  | 'many-audiences'
  | 'new-record'
  | 'not-enforced'
  | 'other-programs'
  | 'outage'
  | 'resets'
  | 'restarts'
  | 'short-tokens'
  | 'terms-differ'
  | 'unknown-outcomes';

/** Looks for one cause. Undefined: the record does not show it. */
export type Rule = (usage: Usage, circumstances: Circumstances) => Finding | undefined;
