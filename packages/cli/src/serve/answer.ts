/** An answer of the server itself. It is small, and it is known as a whole before it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer in JSON. No cache keeps it (RFC 6749 section 5.1). */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', pragma: 'no-cache', ...headers },
    body: JSON.stringify(value),
  };
}

/** An error in the form of RFC 6749 section 5.2, which all doors use. */
export function refusal(
  status: number,
  error: string,
  description: string,
  headers?: Readonly<Record<string, string>>,
): Answer {
  return json(status, { error, error_description: describable(description) }, headers);
}

export function invalidRequest(description: string): Answer {
  return refusal(400, 'invalid_request', description);
}

export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { 'cache-control': 'no-store', ...headers }, body: '' };
}

/** RFC 6749 section 5.2 allows printable ASCII without quotation marks and backslashes. */
function describable(text: string): string {
  return text.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, '?');
}
