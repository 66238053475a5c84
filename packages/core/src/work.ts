import type { AccessToken } from './access-token.ts';
import type { UsableToken } from './cached-token.ts';
import { type ClientSecretSource, clientSecretSource, type SecretMemory } from './client-secret.ts';
import type { Instant } from './instant.ts';
import type { Ask } from './ledger/decide.ts';
import type { IssuanceReason } from './ledger/record.ts';
import type { Settings } from './settings.ts';
import { createSettlement, type Settlement } from './settlement.ts';
import type { SharedLedger, View } from './shared-ledger.ts';
import { sendWithinMs } from './store-calls.ts';
import { createUsableTokens, type UsableTokens } from './usable-token.ts';

/** A request of the client for a token. */
export interface TokenRequest {
  readonly reason: Exclude<IssuanceReason, 'reset'>;
  /** False: only read whether the fleet has a newer token. */
  readonly mayIssue: boolean;
  /** The token in memory. With the reasons `refresh` and `rejected` it can be kept. */
  readonly cached: UsableToken | undefined;
  /** Tokens that this process has had, whatever became of them: none of them is a new one. */
  readonly known: readonly (AccessToken | undefined)[];
  /** Ids of tokens that must not be used. */
  readonly unusable: Ask['unusable'];
  /** Tokens up to this generation were reset here. */
  readonly revoked: number;
  /** Called when a read of the record showed that the cached token is still good: the fleet neither reset nor replaced it. */
  readonly onRead: (at: Instant) => void;
}

/** The result of a request. `keep`: keep the cached token; another one is possible after `retryAt`, a monotonic instant. `drop`: the cached token was reset. */
export type TokenResult =
  | { readonly kind: 'token'; readonly usable: UsableToken }
  | { readonly kind: 'keep'; readonly retryAt: number }
  | { readonly kind: 'drop' };

/** The parts that one attempt works with. They end with it: a process may have thousands of clients that wait for their next call. */
export interface Work {
  readonly settings: Settings;
  readonly ledger: SharedLedger;
  readonly settlement: Settlement;
  readonly secrets: ClientSecretSource;
  readonly usableTokens: UsableTokens;
  /** The deadline of sending a request, from the reservation. */
  readonly sendWithinMs: number;
  readonly leaseMs: number;
}

/** Creates the parts of an attempt. Between attempts a client keeps its ledger and its memory of the secret. */
export function createWork(settings: Settings, ledger: SharedLedger, secretMemory: SecretMemory): Work {
  // The lease covers three steps: sending the request, its answer, and settling. With a short `timeoutMs` all of them have short deadlines.
  const sendMs = sendWithinMs(settings);
  const settleMs = Math.min(20_000, Math.max(sendMs, settings.timeoutMs));
  return {
    settings,
    ledger,
    settlement: createSettlement(settings, ledger),
    secrets: clientSecretSource(settings, secretMemory),
    usableTokens: createUsableTokens(settings),
    sendWithinMs: sendMs,
    leaseMs: sendMs + settings.timeoutMs + settleMs,
  };
}

/** Keeps the cached token. `at`: an instant of the ledger from which another token is possible. */
export function keepUntil({ settings: { clock } }: Work, at: number, view: View): TokenResult {
  return { kind: 'keep', retryAt: clock.monotonic() + Math.max(0, at - view.now) };
}
