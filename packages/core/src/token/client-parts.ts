import type { Settings } from '../contract/settings.ts';
import { createSettlement, type Settlement } from '../record/settlement.ts';
import type { SharedRecord } from '../record/shared-record.ts';
import { sendWithinMs } from '../record/store-calls.ts';
import { type ClientSecretSource, clientSecretSource, type SecretMemory } from './client-secret.ts';
import { createUsableTokens, type UsableTokens } from './usable-tokens.ts';

/** The parts that a flight works with, or a call such as `reset()`. They are not kept afterwards, so that thousands of idle clients use little memory. */
export interface ClientParts {
  readonly settings: Settings;
  readonly sharedRecord: SharedRecord;
  readonly settlement: Settlement;
  readonly secrets: ClientSecretSource;
  readonly usableTokens: UsableTokens;
  /** The deadline of sending a request, from the reservation. */
  readonly sendWithinMs: number;
  readonly leaseMs: number;
}

/** Creates the parts. Between flights a client keeps its record and its memory of the secret. */
export function createParts(settings: Settings, sharedRecord: SharedRecord, secretMemory: SecretMemory): ClientParts {
  // The lease covers three steps: sending the request, its answer, and settling. With a short `timeoutMs` all of them have short deadlines.
  const sendMs = sendWithinMs(settings);
  const settleMs = Math.min(20_000, Math.max(sendMs, settings.timeoutMs));
  return {
    settings,
    sharedRecord,
    settlement: createSettlement(settings, sharedRecord),
    secrets: clientSecretSource(settings, secretMemory),
    usableTokens: createUsableTokens(settings),
    sendWithinMs: sendMs,
    leaseMs: sendMs + settings.timeoutMs + settleMs,
  };
}
