type Method = (...details: unknown[]) => unknown;

/** All methods of a handler, of both generations. */
export const methods = [
  'onConnect',
  'onHeaders',
  'onData',
  'onComplete',
  'onError',
  'onUpgrade',
  'onRequestStart',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
  'onRequestUpgrade',
  'onResponseStarted',
  'onBodySent',
  'onRequestSent',
] as const;

type Name = (typeof methods)[number];

/**
 * A handler of undici: version 6 calls the methods of the first generation (`onConnect`,
 * `onHeaders` …), versions 7 and 8 those of the second.
 */
export type Handler = { readonly [name in Name]?: Method };

export interface Recording extends Handler {
  /** The recorded calls, in their order. */
  readonly calls: readonly (readonly [name: Name, details: readonly unknown[]])[];
}

const maxBytes = 1_048_576;

/**
 * Creates a handler that records its calls. It calls `onOverflow` when the recorded chunks exceed 1
 * MiB.
 */
export function createRecording(onOverflow: () => void): Recording {
  const calls: [Name, unknown[]][] = [];
  const recording: Partial<Record<Name, Method>> & Pick<Recording, 'calls'> = { calls };
  let bytes = 0;
  for (const name of methods) {
    recording[name] = (...details) => {
      calls.push([name, details]);
      if (name !== 'onData' && name !== 'onResponseData') return;
      bytes += (details.at(-1) as Uint8Array).length;
      if (bytes > maxBytes) onOverflow();
    };
  }
  return recording;
}
