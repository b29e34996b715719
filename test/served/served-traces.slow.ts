import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import { type ReceivedSpan, startTraceReceiver, type TraceReceiver } from '../support/trace-receiver.ts';

// Threads and processes are started, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const WAIT = { timeout: 60_000, interval: 100 };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SECRET = `sk-proj-${'Q7dK2mZx9LpR4tVw'.repeat(3)}`;
const TASK = 'Write the meeting dates and times into the table in notes.md';
const HEADER_KEY = 'receiver-key-8841';

let provider: Provider;
beforeAll(async () => {
  provider = await startProvider(({ url, body }, response) => {
    if (body.includes('fail, please')) {
      response.writeHead(400, { 'content-type': 'application/json' });
      return void response.end(
        '{"error":{"message":"the prompt is too long","type":"invalid_request_error"}}',
      );
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply(url.includes('messages') ? 'anthropic' : 'openai-chat'));
  });
});
afterAll(() => provider.close());

interface Stage {
  readonly receiver: TraceReceiver;
  readonly daemon: RunningDaemon;
  send(session: string, text: string, headers?: Record<string, string>): Promise<string>;
  spanOf(turn: string, name?: RegExp): Promise<ReceivedSpan>;
  owner(path: string, body: object): Promise<JsonObject>;
  metrics(): Promise<string>;
  close(): Promise<void>;
}

async function open(traces: object, start: typeof startTraceReceiver = startTraceReceiver): Promise<Stage> {
  const receiver = await start();
  const home = makeHome({
    providers: {
      fake: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` },
      other: { wire: 'anthropic', baseUrl: `${provider.url}/v1` },
    },
    traces: { url: receiver.url, ...traces },
  });
  const daemon = await startDaemon(home.dir, [], {
    TRACE_HEADERS: `authorization=Bearer%20${HEADER_KEY},x-project=p%201`,
  });
  const owner = async (path: string, body: object): Promise<JsonObject> => {
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    return JSON.parse((await ask(daemon.port, { path, headers, body: JSON.stringify(body) })).text);
  };
  return {
    receiver,
    daemon,
    owner,
    send: async (session, text, headers = {}) => {
      const { model = 'fake/m-1', ...more } = headers;
      const answer = await ask(daemon.port, {
        path: '/v1/chat/completions',
        headers: { 'x-instar-key': daemon.key, 'x-instar-session': session, ...more },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: text }] }),
      });
      return String(answer.headers['x-instar-turn']);
    },
    spanOf: (turn, name = /^chat/) =>
      vi.waitFor(() => {
        const found = receiver
          .spans()
          .find((span) => span.attributes['instar.turn'] === turn && name.test(span.name));
        if (found === undefined) throw new Error(`no span of ${turn}`);
        return found;
      }, WAIT),
    metrics: async () => {
      const headers = { authorization: `Bearer ${daemon.ownerKey}` };
      return (await ask(daemon.port, { method: 'GET', path: '/metrics', headers })).text;
    },
    close: async () => {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
      await receiver.close();
      home.remove();
    },
  };
}

describe('a daemon with a receiver of traces', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await open({ headersEnv: 'TRACE_HEADERS' });
    const text = lessonText({
      name: 'date-offsets',
      description: 'When you write dates or times into a table or a file.',
      content: 'Use the offset +02:00 in every time.',
    });
    const changes = [{ op: 'add', id: 'dates', kind: 'skill', state: 'live', text }];
    await stage.owner('/api/lessons', { changes, reason: 'a test' });
  });
  afterAll(() => stage.close());

  it('sends a span for a turn, with model, usage, session, generation and the lessons it was shown', async () => {
    const turn = await stage.send('s-1', TASK);
    const span = await stage.spanOf(turn);
    expect(span.name).toBe('chat m-1');
    expect(span.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'fake',
      'gen_ai.request.model': 'm-1',
      'instar.model.asked': 'fake/m-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.conversation.id': 's-1',
      'http.response.status_code': 200,
      'instar.policy': 'fake/m-1',
      'instar.generation': 1,
      'instar.lessons': ['dates'],
      'instar.lessons.names': ['date-offsets'],
      'instar.lessons.held_out': [],
      'instar.holdout.arm': 'shown',
      'instar.turn.status': 'complete',
    });
    expect(span.attributes['gen_ai.usage.input_tokens']).toBeGreaterThan(0);
    expect(span.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThan(0);
    expect(span.endedAt).toBeGreaterThanOrEqual(span.startedAt);
    expect(span.parentSpanId).toBe('');
    expect(stage.receiver.requests[0]?.resource).toMatchObject({ 'service.name': 'instar' });
  });

  it('sends the headers of the variable that traces.headersEnv names, and nothing of the words that were said', async () => {
    await stage.spanOf(await stage.send('s-2', `The key is ${SECRET}`));
    for (const { headers, body } of stage.receiver.requests) {
      expect(headers).toMatchObject({ authorization: `Bearer ${HEADER_KEY}`, 'x-project': 'p 1' });
      expect(body.includes('meeting dates')).toBe(false);
      expect(body.includes('The key is')).toBe(false);
      expect(body.includes(SECRET)).toBe(false);
    }
  });

  it.each([
    ['its own wire', 'fake/m-1'],
    ['another wire', 'other/m-1'],
  ])(
    'makes the turn a child of the client’s span, and passes traceparent to a provider on %s untouched',
    async (_, model) => {
      const traceparent = `00-${TRACE}-${PARENT}-01`;
      const turn = await stage.send(`s-${model}`, 'hello', { traceparent, tracestate: 'a=b', model });
      expect(await stage.spanOf(turn)).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
      expect(provider.seen.at(-1)?.headers).toMatchObject({ traceparent, tracestate: 'a=b' });
    },
  );

  it('sends a failed turn with its kind of failure and status', async () => {
    const span = await stage.spanOf(await stage.send('s-3', 'fail, please'));
    expect(span.attributes['error.type']).toBe('bad-request');
    expect(span.attributes['http.response.status_code']).toBe(400);
    // The provider's message may quote the prompt.
    expect(span.error).toBe('bad-request');
  });

  it('sends feedback as a child of the span of its turn, also in a client’s trace, without the note', async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    for (const headers of [{}, { traceparent }] as const) {
      const turn = await stage.send('s-4', 'hello again', headers);
      const parent = await stage.spanOf(turn);
      await stage.owner('/v1/feedback', { turn, score: -1, note: 'private words' });
      const span = await stage.spanOf(turn, /^reward person/);
      expect(span).toMatchObject({ traceId: parent.traceId, parentSpanId: parent.spanId });
      expect(span.attributes['gen_ai.evaluation.score.value']).toBe(-1);
      expect(span.events.map(({ name }) => name)).toEqual(['gen_ai.evaluation.result']);
      expect(span.links).toEqual([{ traceId: parent.traceId, spanId: parent.spanId }]);
    }
    expect(stage.receiver.requests.some(({ body }) => body.includes('private words'))).toBe(false);
  });

  it('sends no span of a turn that is not recorded, nor of one that its client does not sample', async () => {
    const off = await stage.send('s-5', 'hello', { 'x-instar-record': 'off' });
    const unsampled = await stage.send('s-5', 'hello', { traceparent: `00-${TRACE}-${PARENT}-00` });
    await stage.spanOf(await stage.send('s-5', 'hello'));
    const sent = stage.receiver.spans().map(({ attributes }) => attributes['instar.turn']);
    expect(sent).not.toContain(off);
    expect(sent).not.toContain(unsampled);
    const metrics = await stage.metrics();
    expect(metrics).toMatch(/instar_trace_spans_sent_total [1-9]/);
    expect(metrics).toContain('instar_trace_spans_dropped_total{reason="unsampled"} 1');
    expect(metrics).not.toContain(HEADER_KEY);
  });
});

describe('traces.content', () => {
  it('adds the words of a turn and of a note, redacted as the record is', async () => {
    const stage = await open({ content: true });
    const turn = await stage.send('c-1', `Please use ${SECRET} for the upload`);
    const { attributes } = await stage.spanOf(turn);
    expect(String(attributes['gen_ai.input.messages'])).toContain('for the upload');
    expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toMatchObject([
      { role: 'assistant', finish_reason: 'stop' },
    ]);
    await stage.owner('/v1/feedback', { turn, score: 1, note: `good, but never show ${SECRET}` });
    const reward = await stage.spanOf(turn, /^reward/);
    expect(reward.attributes['gen_ai.evaluation.explanation']).toContain('never show');
    for (const { body } of stage.receiver.requests) expect(body.includes(SECRET)).toBe(false);
    await stage.close();
  });
});

describe('a receiver that does not take traces', () => {
  it('that never answers delays no turn and no stop of the daemon', async () => {
    const stage = await open({}, () => startTraceReceiver(() => undefined));
    for (let n = 0; n < 5; n++) expect(await stage.send('d-1', `hello ${n}`)).toMatch(/^t_/);
    await vi.waitFor(() => expect(stage.receiver.requests.length).toBeGreaterThan(0), WAIT);
    expect(await stage.send('d-1', 'still here')).toMatch(/^t_/);
    stage.daemon.child.kill('SIGTERM');
    expect(await stage.daemon.exited).toBe(0);
    await stage.close();
  });

  it('that refuses them loses them, and the turns are served and recorded as before', async () => {
    const refuse = () =>
      startTraceReceiver((_nth, response) => {
        response.writeHead(500);
        response.end();
      });
    const stage = await open({}, refuse);
    const turn = await stage.send('e-1', 'hello');
    await vi.waitFor(
      async () =>
        expect(await stage.metrics()).toContain('instar_trace_spans_dropped_total{reason="refused"} 1'),
      WAIT,
    );
    expect(await stage.owner('/v1/feedback', { turn, score: 1 })).toMatchObject({ ok: true });
    await stage.close();
  });
});
