import type { ServerResponse } from 'node:http';
import { createFailure, type FailureKind } from '../../src/core/failure.ts';
import type { WireName } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import type { Reply } from '../support/provider.ts';
import { streamedReply, wholeReply } from '../support/samples.ts';

/** What the client must receive. `tries` is the number of requests to the provider. */
export type Outcome =
  /** The provider's good reply, byte for byte. */
  | { readonly sees: 'reply'; readonly tries: number }
  /** The provider's own error reply, byte for byte. */
  | { readonly sees: 'provider error'; readonly status: number; readonly tries: number }
  /** An error that Instar wrote in the caller's wire format. */
  | {
      readonly sees: 'our error';
      readonly status: number;
      readonly kind: FailureKind;
      readonly tries: number;
    }
  /** What the provider sent, byte for byte, whatever it is. */
  | { readonly sees: 'same bytes'; readonly tries: number }
  /** A correct beginning, then an error event of the wire or a broken connection; never a silent end. */
  | { readonly sees: 'a cut'; readonly tries: number };

export interface Fault {
  readonly name: string;
  readonly only?: 'stream' | 'whole';
  /** The time-out that must fire: only this one is short. */
  readonly timesOut?: 'headersMs' | 'firstByteMs' | 'idleMs';
  readonly outcome: Outcome;
  /** `clientHas` resolves when the client has received that many bytes: a reset before would discard them. */
  play(wire: WireName, stream: boolean, clientHas: (bytes: number) => Promise<void>): Reply;
}

/** Returns the number of bytes sent. */
const send = async (response: ServerResponse, chunks: readonly (string | Buffer)[]): Promise<number> => {
  let size = 0;
  for (const chunk of chunks) {
    response.write(chunk);
    size += Buffer.byteLength(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return size;
};
const good = (wire: WireName, stream: boolean, response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  response.end(stream ? streamedReply(wire).join('') : wholeReply(wire));
};
export const errorBody = (wire: WireName, status: number): string =>
  JSON.stringify(
    wires[wire].encodeFailure(createFailure('bad-request', `provider says ${status}`, { status })),
  );

const status = (
  code: number,
  name: string,
  outcome: Outcome,
  headers: Record<string, string> = {},
): Fault => ({
  name,
  outcome,
  play: (wire, stream) => (_request, response, nth) => {
    if (outcome.sees === 'reply' && nth === outcome.tries) return good(wire, stream, response);
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(errorBody(wire, code));
  },
});
const passed = (code: number, tries: number): Outcome => ({ sees: 'provider error', status: code, tries });

const CLIENT_ERRORS = [400, 401, 402, 403, 404, 405, 409, 413, 415, 422, 451].map((code) =>
  status(code, `${code} is passed on with its wording (not retried)`, passed(code, 1)),
);
const BUSY = [429, 500, 502, 503, 529].flatMap((code) => [
  status(code, `${code} once, then a reply`, { sees: 'reply', tries: 2 }),
  status(code, `${code} twice, then a reply`, { sees: 'reply', tries: 3 }),
  status(code, `${code} every time: the third is passed on`, passed(code, 3)),
]);
const RETRY_AFTER: readonly Fault[] = [
  status(429, 'Retry-After: 0 is honoured', { sees: 'reply', tries: 2 }, { 'retry-after': '0' }),
  status(
    429,
    'Retry-After as a past date is honoured',
    { sees: 'reply', tries: 2 },
    { 'retry-after': new Date(0).toUTCString() },
  ),
  status(429, 'Retry-After of 10^9 s is passed on (not waited for)', passed(429, 1), {
    'retry-after': '1000000000',
  }),
  status(503, 'Retry-After of an hour is passed on (not waited for)', passed(503, 1), {
    'retry-after': '3600',
  }),
  status(
    429,
    'Retry-After that is nonsense is ignored',
    { sees: 'reply', tries: 2 },
    { 'retry-after': 'soon' },
  ),
  status(429, 'x-should-retry: false is obeyed', passed(429, 1), { 'x-should-retry': 'false' }),
  status(500, 'x-should-retry: false is obeyed on 500', passed(500, 1), { 'x-should-retry': 'false' }),
];
const HTML: readonly Fault[] = [502, 503, 403].map((code) => ({
  name: `${code} with an HTML page becomes an error in the wire format with that status`,
  outcome: {
    sees: 'our error',
    status: code,
    kind: code === 403 ? 'forbidden' : code === 503 ? 'overloaded' : 'upstream-error',
    tries: code === 403 ? 1 : 3,
  },
  play: () => (_request, response) => {
    response.writeHead(code, { 'content-type': 'text/html' });
    response.end(`<html><script>alert(1)</script><h1>${code} sorry</h1></html>`);
  },
}));
const REDIRECTS: readonly Fault[] = [301, 302, 303, 307, 308].map((code) => ({
  name: `${code} to a metadata address is not followed`,
  outcome: { sees: 'our error', status: 502, kind: 'upstream-error', tries: 1 },
  play: () => (_request, response) => {
    response.writeHead(code, { location: 'http://169.254.169.254/latest/meta-data/' });
    response.end();
  },
}));
const BROKEN_BEFORE: readonly Fault[] = [
  {
    name: 'a reset before the head, once, is tried again',
    outcome: { sees: 'reply', tries: 2 },
    play: (wire, stream) => (_request, response, nth) =>
      nth === 1 ? void response.socket?.resetAndDestroy() : good(wire, stream, response),
  },
  {
    name: 'a reset after the head and before the first byte, once, is tried again',
    outcome: { sees: 'reply', tries: 2 },
    play: (wire, stream) => (_request, response, nth) => {
      if (nth > 1) return good(wire, stream, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      setTimeout(() => response.socket?.resetAndDestroy(), 5);
    },
  },
  {
    name: 'a provider that always hangs up gives 502 (not a 200)',
    outcome: { sees: 'our error', status: 502, kind: 'upstream-error', tries: 3 },
    play: () => (_request, response) => void response.socket?.destroy(),
  },
  {
    name: 'a provider that does not speak HTTP gives 502',
    outcome: { sees: 'our error', status: 502, kind: 'upstream-error', tries: 3 },
    play: () => (_request, response) => void response.socket?.end('220 mail.example ESMTP\r\n'),
  },
  {
    name: 'a missing head gives 504 after the time-out (and no second try)',
    timesOut: 'headersMs',
    outcome: { sees: 'our error', status: 504, kind: 'timeout', tries: 1 },
    play: () => () => undefined,
  },
  {
    name: 'a missing first byte gives 504 after the time-out',
    timesOut: 'firstByteMs',
    outcome: { sees: 'our error', status: 504, kind: 'timeout', tries: 1 },
    play: () => (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    },
  },
];
const BROKEN_IN: readonly Fault[] = [
  ...[1, 2, 3, 4].map(
    (chunks): Fault => ({
      name: `a reset after ${chunks} events is reported (never retried)`,
      only: 'stream',
      outcome: { sees: 'a cut', tries: 1 },
      play: (wire, _stream, clientHas) => async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await clientHas(await send(response, streamedReply(wire).slice(0, chunks)));
        response.socket?.resetAndDestroy();
      },
    }),
  ),
  ...[0.2, 0.5, 0.9].map(
    (share): Fault => ({
      name: `a reset in the middle of an event (${share}) breaks the connection`,
      outcome: { sees: 'a cut', tries: 1 },
      play: (wire, stream, clientHas) => async (_request, response) => {
        const bytes = Buffer.from(stream ? streamedReply(wire).join('') : wholeReply(wire));
        response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
        await clientHas(await send(response, [bytes.subarray(0, Math.floor(bytes.length * share))]));
        response.socket?.resetAndDestroy();
      },
    }),
  ),
  {
    name: 'silence in the middle of a reply ends it after the idle time-out',
    timesOut: 'idleMs',
    outcome: { sees: 'a cut', tries: 1 },
    play: (wire, stream) => async (_request, response) => {
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      await send(response, [stream ? (streamedReply(wire)[0] ?? '') : wholeReply(wire).slice(0, 20)]);
    },
  },
  {
    name: 'a body shorter than its content-length is a cut',
    outcome: { sees: 'a cut', tries: 1 },
    play: (wire, stream, clientHas) => async (_request, response) => {
      const text = stream ? streamedReply(wire).join('') : wholeReply(wire);
      const length = Buffer.byteLength(text) + 100;
      response.writeHead(200, {
        'content-type': stream ? 'text/event-stream' : 'application/json',
        'content-length': length,
      });
      await clientHas(await send(response, [text]));
      response.socket?.destroy();
    },
  },
  {
    name: 'a chunked body without its last chunk is a cut',
    outcome: { sees: 'a cut', tries: 1 },
    play: (wire, stream, clientHas) => async (_request, response) => {
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      const text = stream ? streamedReply(wire).slice(0, 2).join('') : wholeReply(wire);
      await clientHas(await send(response, [text]));
      response.socket?.end();
    },
  },
];

const verbatim = (
  name: string,
  bytes: (wire: WireName) => readonly (string | Buffer)[],
  head = {},
): Fault => ({
  name,
  only: 'stream',
  outcome: { sees: 'same bytes', tries: 1 },
  play: (wire) => async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...head });
    await send(response, bytes(wire));
    response.end();
  },
});
const text = (wire: WireName) => streamedReply(wire).join('');
const ODD_STREAMS: readonly Fault[] = [
  verbatim('1-byte chunks', (wire) => [...Buffer.from(text(wire))].map((byte) => Buffer.from([byte]))),
  verbatim('CRLF line ends', (wire) => [text(wire).replaceAll('\n', '\r\n')]),
  verbatim('lone CR line ends', (wire) => [text(wire).replaceAll('\n', '\r')]),
  verbatim('comments and pings', (wire) =>
    streamedReply(wire).flatMap((event) => [': keep-alive\n\n', event]),
  ),
  verbatim('a byte order mark', (wire) => [`\ufeff${text(wire)}`]),
  verbatim('a missing terminator', (wire) => streamedReply(wire).slice(0, -1)),
  verbatim('a doubled terminator', (wire) => [text(wire), streamedReply(wire).at(-1) ?? '']),
  verbatim('an error event after 200', (wire) => [
    streamedReply(wire)[0] ?? '',
    wires[wire].encodeStreamFailure(createFailure('overloaded', 'busy')),
  ]),
  verbatim('a malformed data line', (wire) => [
    streamedReply(wire)[0] ?? '',
    'data: {"broken\n\n',
    text(wire),
  ]),
  verbatim('multi-line data', () => ['data: {"a":\ndata: 1}\n\n', 'data: [DONE]\n\n']),
  verbatim('UTF-8 split inside a character', (wire) => {
    const bytes = Buffer.from(text(wire));
    const at = bytes.indexOf(Buffer.from('晴')) + 1;
    return [bytes.subarray(0, at), bytes.subarray(at)];
  }),
  verbatim('one line of 8 MB', () => [`data: ${'x'.repeat(8 * 1024 * 1024)}\n\n`]),
  verbatim('a content type that is wrong', (wire) => [text(wire)], { 'content-type': 'text/plain' }),
  verbatim('an empty reply', () => []),
  verbatim('bytes that are not text', () => [Buffer.from([0, 255, 254, 0xc3, 0x28, 10, 10])]),
];

export const FAULTS: readonly Fault[] = [
  ...CLIENT_ERRORS,
  ...BUSY,
  ...RETRY_AFTER,
  ...HTML,
  ...REDIRECTS,
  ...BROKEN_BEFORE,
  ...BROKEN_IN,
  ...ODD_STREAMS,
];
