import type { AxiosResponse } from 'axios';

const replayable = new Set(['ArrayBuffer', 'Blob', 'File', 'FormData', 'URLSearchParams']);

/** Whether a request body can be sent a second time: anything but streams, and whatever is not known to be no stream. */
export function isReplayable(body: unknown): boolean {
  if (Object(body) !== body || ArrayBuffer.isView(body)) return true;
  // By its tag, for there are several implementations of each. The package form-data has the tag of a FormData, and is a stream.
  const tag = Object.prototype.toString.call(body).slice('[object '.length, -1);
  return replayable.has(tag) && !('pipe' in (body as object));
}

/** Ends a streamed response that nobody will read. */
export function discard({ data: body }: AxiosResponse): void {
  if (typeof body?.destroy === 'function') body.destroy();
  else if (typeof body?.cancel === 'function') Promise.resolve(body.cancel()).catch(() => {});
}
