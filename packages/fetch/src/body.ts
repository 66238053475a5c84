const replayable = /^\[object (ArrayBuffer|Blob|File|FormData|URLSearchParams)\]$/;

/** Whether a request body can be sent a second time: anything but streams, and whatever is not known to be no stream. */
export function isReplayable(body: unknown): boolean {
  if (Object(body) !== body || ArrayBuffer.isView(body)) return true;
  // By its tag, for there are several implementations of each.
  return replayable.test(Object.prototype.toString.call(body)) && !('pipe' in Object(body));
}

/** Ends a response that nobody will read, so that its connection is free. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}
