import type { IncomingMessage } from 'node:http';

const maxKeptBytes = 1_048_576;

export interface RequestBody {
  readonly chunks: AsyncIterable<Buffer>;
  /** The body, to send it again. Undefined: it is incomplete, or larger than 1 MiB. */
  whole(): Buffer | undefined;
}

/** Streams a body, and keeps a small one. `begin` is called before the first byte is read. */
export function requestBody(request: IncomingMessage, begin: () => void): RequestBody {
  const kept: Buffer[] = [];
  let size = 0;
  let isComplete = false;

  async function* read(): AsyncGenerator<Buffer, void> {
    begin();
    // An answer that comes before the end of the request needs the connection of the request.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= maxKeptBytes) kept.push(chunk);
      else kept.length = 0;
      yield chunk;
    }
    isComplete = true;
  }

  return {
    chunks: read(),
    whole: () => (isComplete && size <= maxKeptBytes ? Buffer.concat(kept) : undefined),
  };
}
