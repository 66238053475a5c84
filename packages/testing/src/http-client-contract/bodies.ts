import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import type { RecordedApiRequest } from '../service/api.ts';
import { type DefineCase, expectIssued, expectStatus } from './fixture.ts';
import type { HttpClientBody, HttpClientBodyKind } from './subject.ts';

interface Sample {
  readonly contentType: string | undefined;
  /** Made anew for each case: some can be read once only. */
  make(): HttpClientBody;
  /** The text that arrives, or a part of it. */
  readonly expected: string | RegExp;
}

// More bytes than characters, so that a length counted in characters is wrong.
const text = 'Grüße, 世界 🌍';
const bytes = Uint8Array.from({ length: 1_024 }, (_, index) => index % 128);
const ascii = new TextDecoder().decode(bytes);
const streamed = 'first chunk, second chunk';

function formData(): FormData {
  const form = new FormData();
  form.set('field', text);
  form.set('file', new Blob([bytes], { type: 'application/octet-stream' }), 'file.bin');
  return form;
}

const samples: Readonly<Record<Exclude<HttpClientBodyKind, 'stream'>, Sample>> = {
  string: { contentType: 'text/plain', make: () => ({ kind: 'string', value: text }), expected: text },
  json: {
    contentType: 'application/json',
    make: () => ({ kind: 'json', value: { text, list: [1, null] } }),
    expected: JSON.stringify({ text, list: [1, null] }),
  },
  bytes: {
    contentType: 'application/octet-stream',
    make: () => ({ kind: 'bytes', value: bytes }),
    expected: ascii,
  },
  // Its content type names the boundary, so the client sets it.
  formData: { contentType: undefined, make: () => ({ kind: 'formData', value: formData() }), expected: /file\.bin/ },
  blob: {
    contentType: 'application/octet-stream',
    make: () => ({ kind: 'blob', value: new Blob([bytes], { type: 'application/octet-stream' }) }),
    expected: ascii,
  },
  urlSearchParams: {
    contentType: 'application/x-www-form-urlencoded',
    make: () => ({ kind: 'urlSearchParams', value: new URLSearchParams({ text, empty: '' }) }),
    expected: new URLSearchParams({ text, empty: '' }).toString(),
  },
};

function streamOf(content: string): ReadableStream<Uint8Array> {
  const half = Math.floor(content.length / 2);
  const chunks = [content.slice(0, half), content.slice(half)].map((chunk) => new TextEncoder().encode(chunk));
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
}

/**
 * Body and content type with the boundary of multipart bodies, which may differ between two sends,
 * replaced.
 */
function contentOf({ body, headers }: RecordedApiRequest): { text: string; type: string | undefined } {
  const type = headers['content-type'];
  const boundary = /boundary="?([^";]+)"?/.exec(type ?? '')?.[1];
  if (boundary === undefined) return { text: body.text, type };
  return { text: body.text.replaceAll(boundary, 'BOUNDARY'), type: type?.replace(boundary, 'BOUNDARY') };
}

function checkLength({ body, headers }: RecordedApiRequest): void {
  const length = headers['content-length'];
  assert.ok(length === undefined || Number(length) === body.bytes, `content-length ${length} for ${body.bytes} bytes`);
}

/** After a 401 the client sends every body again that it can read twice, and no other. */
export function bodyCases(define: DefineCase): ContractCase[] {
  const replayed = Object.entries(samples).map(([kind, sample]) => replayCase(define, kind, sample));
  return [...replayed, streamCase(define)];
}

function replayCase(define: DefineCase, kind: string, { contentType, make, expected }: Sample): ContractCase {
  return define(`a body of kind ${kind} is sent again byte for byte`, async (fixture) => {
    await fixture.warmUp();
    fixture.service.revoke('all');
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    expectStatus(await fixture.send({ method: 'POST', headers, body: make() }), 200);
    const [first, second, ...others] = fixture.apiRequests();
    assert.ok(first && second && others.length === 0, 'the request was not sent twice');
    if (typeof expected === 'string') assert.equal(first.body.text, expected);
    else assert.match(first.body.text, expected);
    assert.deepEqual(contentOf(second), contentOf(first));
    checkLength(first);
    checkLength(second);
  });
}

function streamCase(define: DefineCase): ContractCase {
  return define('a stream is sent once: its 401 is returned, and the next request has a new token', async (fixture) => {
    await fixture.warmUp();
    fixture.service.revoke('all');
    const headers = { 'content-type': 'text/plain' };
    const { status } = await fixture.send({
      method: 'POST',
      headers,
      body: { kind: 'stream', value: streamOf(streamed) },
    });
    expectStatus({ status }, 401);
    assert.deepEqual(
      fixture.apiRequests().map(({ body, bearer }) => [body.text, bearer]),
      [[streamed, 'revoked']],
    );
    expectStatus(await fixture.send(), 200);
    expectIssued(fixture, 2);
  });
}
