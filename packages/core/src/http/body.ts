const replayable = /^\[object (ArrayBuffer|Blob|File|FormData|URLSearchParams)\]$/;

/**
 * Returns whether a request body can be sent a second time. True for no body, strings and other
 * primitive values, views of buffers, and `ArrayBuffer`, `Blob`, `File`, `FormData` and
 * `URLSearchParams` of any implementation. False for everything else: streams and iterators can be
 * read only once, and an unknown object may be one. A form of the package `form-data` is a stream.
 */
export function isReplayable(body: unknown): boolean {
  if (Object(body) !== body || ArrayBuffer.isView(body)) return true;
  // The tag, not the class: a process can contain several implementations of each.
  return replayable.test(Object.prototype.toString.call(body)) && !('pipe' in (body as object));
}

/**
 * Listens to the errors of a stream of Node that waits until there is a token. An error that nobody
 * listens to ends the process. The client finds the error when it sends the stream. Does nothing
 * with any other body.
 */
export function listenToErrors(body: unknown): void {
  const { on } = Object(body) as { on?: unknown };
  if (typeof on === 'function') on.call(body, 'error', () => {});
}

/**
 * Frees the connection of an answer that nobody will read, given its body: a web stream or a stream
 * of Node. Does nothing with anything else.
 */
export function discardBody(body: unknown): void {
  // Nobody needs the error if this throws or rejects.
  new Promise((resolve) => {
    const { cancel, destroy = cancel, once } = Object(body) as Partial<Record<'cancel' | 'destroy' | 'once', unknown>>;
    // node-fetch 2 pipes the answer into the stream that it returns. To destroy that stream only
    // ends the pipe, so the answer would stay open.
    if (typeof once === 'function') once.call(body, 'unpipe', discardBody);
    resolve(typeof destroy === 'function' ? destroy.call(body) : undefined);
  }).catch(() => {});
}
