import { callIgnoringErrors } from './call-ignoring-errors.ts';
import { inWorker } from './in-worker.ts';

interface Runtime {
  readonly process?: { emitWarning?(message: string, type: string): void };
  readonly console?: { warn(message: string): void };
}

/** Shows a warning even if nobody listens to events: as a warning of the process, or on the console of a runtime that has none. */
export function warn(message: string): void {
  callIgnoringErrors((text: string) => {
    const { process, console } = globalThis as Runtime;
    // A worker may have an imitation of Node's process, which need not show its warnings.
    if (process?.emitWarning && !inWorker()) process.emitWarning(text, 'ServiceAuthWarning');
    else console?.warn(`ServiceAuthWarning: ${text}`);
  }, message);
}
