import { callIgnoringErrors } from './call-ignoring-errors.ts';
import { inWorker } from './in-worker.ts';

export type WarningCode =
  | 'SERVICE_AUTH_MEMORY_STORE'
  | 'SERVICE_AUTH_MISSING_SCOPE'
  | 'SERVICE_AUTH_TOKEN_BYPASSED'
  | 'SERVICE_AUTH_UNREAD_VARIABLE';

interface Runtime {
  readonly process?: { emitWarning?(message: string, type: string, code: string): void };
  readonly console?: { warn(message: string): void };
}

/**
 * Shows a warning even if nobody listens to events: as a warning of the process, or on the console
 * of a runtime that has none. `code`: the name with which `node --disable-warning` silences it.
 */
export function warn(message: string, code: WarningCode): void {
  callIgnoringErrors((text: string) => {
    const { process, console } = globalThis as Runtime;
    // A worker may have an imitation of Node's process, which need not show its warnings.
    if (process?.emitWarning && !inWorker()) process.emitWarning(text, 'ServiceAuthWarning', code);
    else console?.warn(`ServiceAuthWarning: ${text}`);
  }, message);
}
