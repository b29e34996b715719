import { describe, expect, it } from 'vitest';
import { createProtobufWriter } from '../../src/base/protobuf.ts';
import { encodeTraces } from '../../src/traces/otlp.ts';
import { createSpanSender, type SendLimits } from '../../src/traces/send-spans.ts';
import { contextOf } from '../../src/traces/span.ts';
import { closedPort } from '../support/provider.ts';
import { startTraceReceiver, type TraceReply } from '../support/trace-receiver.ts';

const LIMITS: SendLimits = { timeoutMs: 20_000, tries: 4, pauseMs: 1, longestPauseMs: 5000 };
const body = encodeTraces({ resource: {}, scope: { name: 'instar', version: '1' } }, [
  { ...contextOf('turn', 't'), name: 'chat m', kind: 'client', startedAt: 1, endedAt: 2, attributes: {} },
]);

/** Sends one span to a receiver that answers like this. */
async function sendTo(reply: TraceReply, limits: Partial<SendLimits> = {}, path = '') {
  const receiver = await startTraceReceiver(reply);
  const sender = createSpanSender({ ...LIMITS, ...limits });
  try {
    const headers = { 'x-key': 'abc' };
    const result = await sender.send({ url: `${receiver.url}${path}`, headers }, body);
    return { result, requests: [...receiver.requests] };
  } finally {
    sender.close();
    await receiver.close();
  }
}

const answer =
  (status: number, headers: Record<string, string> = {}, text: string | Uint8Array = ''): TraceReply =>
  (_nth, response) => {
    response.writeHead(status, headers);
    response.end(text);
  };
/** The first `times` requests are answered by `fault`, later ones taken. */
const faulty =
  (times: number, fault: TraceReply): TraceReply =>
  (nth, response, socket) =>
    (nth <= times ? fault : answer(200))(nth, response, socket);

describe('the sender of spans', () => {
  it('posts protobuf to /v1/traces under the address, with the given headers', async () => {
    const { result, requests } = await sendTo(answer(200));
    expect(result).toEqual({ end: 'sent', rejected: 0 });
    expect(requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/x-protobuf', 'x-key': 'abc' },
    });
    expect(requests[0]?.spans[0]?.name).toBe('chat m');
  });

  it.each([
    ['/', '/v1/traces'],
    ['/otlp', '/otlp/v1/traces'],
    ['/otlp/v1/traces', '/otlp/v1/traces'],
    ['/v1/traces/', '/v1/traces'],
  ])('sends to %s as %s', async (given, path) => {
    expect((await sendTo(answer(200), {}, given)).requests[0]?.path).toBe(path);
  });

  it.each([429, 502, 503, 504])('tries again after a %i, and counts it as sent', async (status) => {
    const { result, requests } = await sendTo(faulty(2, answer(status)));
    expect(result.end).toBe('sent');
    expect(requests).toHaveLength(3);
  });

  it('waits as long as Retry-After says, not its own shorter pause', async () => {
    const times: number[] = [];
    const { result } = await sendTo((nth, response, socket) => {
      times.push(performance.now());
      faulty(1, answer(429, { 'retry-after': '1' }))(nth, response, socket);
    });
    expect(result.end).toBe('sent');
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
  });

  it('gives up at once when Retry-After is longer than others may wait', async () => {
    const { result, requests } = await sendTo(answer(429, { 'retry-after': '3600' }));
    expect(result).toEqual({ end: 'unreachable', why: 'HTTP 429' });
    expect(requests).toHaveLength(1);
  });

  it.each([400, 401, 404, 415, 500])(
    'does not repeat a request that was answered with %i',
    async (status) => {
      const { result, requests } = await sendTo(answer(status, {}, 'no'));
      expect(result).toEqual({ end: 'refused', why: `HTTP ${status}` });
      expect(requests).toHaveLength(1);
    },
  );

  it('tries again when the connection is reset', async () => {
    const { result, requests } = await sendTo(
      faulty(2, (_nth, _response, socket) => socket.resetAndDestroy()),
    );
    expect(result.end).toBe('sent');
    expect(requests).toHaveLength(3);
  });

  it('ends a request that is never answered, and all tries with it', async () => {
    const { result, requests } = await sendTo(() => undefined, { timeoutMs: 200, tries: 2 });
    expect(result.end).toBe('unreachable');
    expect(requests).toHaveLength(2);
  });

  it('says that nothing listens there', async () => {
    const sender = createSpanSender(LIMITS);
    const url = `http://127.0.0.1:${await closedPort()}`;
    expect(await sender.send({ url, headers: {} }, body)).toEqual({
      end: 'unreachable',
      why: 'ECONNREFUSED',
    });
    sender.close();
  });

  it('reads how many spans a receiver left out', async () => {
    const partial = createProtobufWriter();
    partial.integer(1, 1);
    partial.text(2, 'too old');
    const response = createProtobufWriter();
    response.message(1, partial.finish());
    const { result } = await sendTo(answer(200, {}, response.finish()));
    expect(result).toEqual({ end: 'sent', rejected: 1, why: 'too old' });
  });

  it('takes a JSON answer for what its status says', async () => {
    expect((await sendTo(answer(200, {}, '{"partialSuccess":{}}'))).result).toEqual({
      end: 'sent',
      rejected: 0,
    });
  });

  it('stops a send that waits, when it is closed', async () => {
    const receiver = await startTraceReceiver(() => undefined);
    const sender = createSpanSender(LIMITS);
    const sending = sender.send({ url: receiver.url, headers: {} }, body);
    sender.close();
    expect((await sending).end).toBe('stopped');
    await receiver.close();
  });
});
