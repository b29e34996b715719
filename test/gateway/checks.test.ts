import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ChatEvent, Usage } from '../../src/core/chat.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { TurnLimits } from '../../src/core/overlay.ts';
import type { TurnOutcome, TurnRecorder } from '../../src/core/recorder.ts';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { createReplyCheck, readReplyBytes } from '../../src/gateway/check-reply.ts';
import { wires } from '../../src/wire/wires.ts';
import { ask } from '../support/client.ts';
import { runsOf } from '../support/counts.ts';
import { KEY, providerAt, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Provider, type Reply, startProvider } from '../support/provider.ts';
import { ROUTES } from '../support/samples.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000 };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A caller of each wire at a provider that speaks the same one, and at one that speaks another. */
const PATHS = WIRE_NAMES.flatMap((wire) => {
  const other: WireName = wire === 'openai-chat' ? 'anthropic' : 'openai-chat';
  return [
    { wire, spoken: wire, how: 'relayed' },
    { wire, spoken: other, how: `translated from ${other}` },
  ] as const;
});

const USAGE: Usage = { inputTokens: 10, outputTokens: 3 };
const said = (text: string): readonly ChatEvent[] => [
  { type: 'reply-start', id: 'r', model: 'm' },
  { type: 'text-delta', text },
  { type: 'reply-end', stop: 'end', usage: USAGE },
];
const called = (json: string): readonly ChatEvent[] => [
  { type: 'reply-start', id: 'r', model: 'm' },
  { type: 'tool-start', id: 'c1', name: 'weather' },
  { type: 'tool-delta', id: 'c1', json },
  { type: 'reply-end', stop: 'tool-calls', usage: USAGE },
];

const TOOL = {
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const SCHEMA = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };

/** A request as its wire writes it. */
const asking = (
  wire: WireName,
  more: { readonly json?: boolean; readonly tool?: boolean; stream?: boolean },
) =>
  JSON.stringify(
    wires[wire].encodeRequest({
      model: 'fake/m',
      system: [],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
      tools: more.tool === true ? [TOOL] : [],
      ...(more.json === true ? { format: { type: 'json-schema', name: 'reply', schema: SCHEMA } } : {}),
      maxTokens: 100,
      stream: more.stream === true,
    }),
  );

interface Setup {
  readonly wire: WireName;
  readonly spoken: WireName;
  readonly replies: readonly (readonly ChatEvent[] | number)[];
  readonly limits: TurnLimits;
}

async function setUp({ spoken, replies, limits }: Setup) {
  const outcomes: TurnOutcome[] = [];
  const recorder: TurnRecorder = {
    room: () => undefined,
    start: () => ({ chunk: () => undefined, head: () => undefined, end: (one) => outcomes.push(one) }),
  };
  const reply: Reply = (_, response, nth) => {
    const given = replies[Math.min(nth, replies.length) - 1] ?? 500;
    response.writeHead(typeof given === 'number' ? given : 200, { 'content-type': 'application/json' });
    response.end(typeof given === 'number' ? '{}' : JSON.stringify(wires[spoken].encodeReply(given)));
  };
  return { ...(await serve(spoken, reply, limits, recorder)), outcomes };
}

async function serve(
  spoken: WireName,
  reply: Reply,
  limits: TurnLimits,
  recorder?: TurnRecorder,
): Promise<{ readonly provider: Provider; readonly gateway: TestGateway }> {
  const provider = await startProvider(reply);
  const gateway = await startGateway({
    providers: [providerAt(provider.url, [spoken])],
    limits,
    ...(recorder === undefined ? {} : { recorder }),
  });
  open.push(provider, gateway);
  return { provider, gateway };
}

const send = (port: number, wire: WireName, body: string) =>
  ask(port, { path: ROUTES[wire], body, headers: { 'x-instar-key': KEY } });

const decoded = (wire: WireName, text: string) => wires[wire].decodeReply(JSON.parse(text) as JsonObject);
const textIn = (wire: WireName, text: string): string =>
  decoded(wire, text)
    .map((event) =>
      event.type === 'text-delta' ? event.text : event.type === 'tool-delta' ? event.json : '',
    )
    .join('');

describe.each(PATHS)('a reply on $wire, $how,', ({ wire, spoken }) => {
  it('that is not the JSON that was asked for is asked for again; all of it is in the record', async () => {
    const { provider, gateway, outcomes } = await setUp({
      wire,
      spoken,
      replies: [said('Here you are: {"ok":'), said('{"ok":true}')],
      limits: { checks: ['json'] },
    });
    const { status, text } = await send(gateway.port, wire, asking(wire, { json: true }));
    expect(status).toBe(200);
    expect(textIn(wire, text)).toBe('{"ok":true}');
    expect(provider.seen).toHaveLength(2);
    expect(provider.seen[1]?.body.equals(provider.seen[0]?.body ?? Buffer.alloc(0))).toBe(true);
    expect(gateway.checked.map(({ check, result, overlays }) => [check, result, overlays])).toEqual([
      ['json', 'failed', ['l_limit']],
      ['json', 'passed', ['l_limit']],
    ]);
    expect(outcomes[0]?.reasked).toEqual({ times: 1, usage: USAGE });
    expect(gateway.reports[0]).toMatchObject({ end: 'complete', tries: 2 });
  });

  it('whose arguments do not fit the tool is asked for again, at most twice, and then passed on as it is', async () => {
    const { provider, gateway, outcomes } = await setUp({
      wire,
      spoken,
      replies: [called('{}'), called('{"city":1}'), called('{"town":"Zürich"}')],
      limits: { checks: ['tool-arguments'], reasks: 2 },
    });
    const { status, text } = await send(gateway.port, wire, asking(wire, { tool: true }));
    expect(status).toBe(200);
    expect(JSON.parse(textIn(wire, text))).toEqual({ town: 'Zürich' });
    expect(provider.seen).toHaveLength(3);
    expect(gateway.checked.map(({ why }) => why)).toEqual([
      'arguments: it.city is missing',
      'arguments: it.city is not of type string',
      'arguments: it.city is missing',
    ]);
    expect(outcomes[0]?.reasked).toEqual({ times: 2, usage: { inputTokens: 20, outputTokens: 6 } });
  });

  it('is passed on when asking again fails (no error in its place)', async () => {
    const { provider, gateway } = await setUp({
      wire,
      spoken,
      replies: [called('{}'), 400],
      limits: { checks: ['tool-arguments'] },
    });
    const { status, text } = await send(gateway.port, wire, asking(wire, { tool: true }));
    expect(status).toBe(200);
    expect(textIn(wire, text)).toBe('{}');
    expect(provider.seen).toHaveLength(2);
  });

  it('that streams is passed on untouched and counted', async () => {
    const encoder = wires[spoken].createStreamEncoder();
    const bytes = called('{"city":1}')
      .map((event) => encoder.encode(event))
      .join('');
    const { provider, gateway } = await serve(
      spoken,
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(bytes);
      },
      { checks: ['tool-arguments'], reasks: 2 },
    );
    const { text } = await send(gateway.port, wire, asking(wire, { tool: true, stream: true }));
    if (wire === spoken) expect(text).toBe(bytes);
    else expect(text).toContain('city');
    expect(provider.seen).toHaveLength(1);
    await expect.poll(() => gateway.checked.map(({ result }) => result), SOON).toEqual(['failed']);
  });

  it('is waited for as long as the limits say, and a failure is final with retries: 0', async () => {
    const hanging = await serve(spoken, () => undefined, { headersMs: 200 });
    expect((await send(hanging.gateway.port, wire, asking(wire, {}))).status).toBe(504);
    const broken = await setUp({ wire, spoken, replies: [503, said('late')], limits: { retries: 0 } });
    expect((await send(broken.gateway.port, wire, asking(wire, {}))).status).toBe(503);
    expect(broken.provider.seen).toHaveLength(1);
    expect(broken.gateway.reports[0]).toMatchObject({ limitedBy: ['l_limit'] });
    const more = await setUp({
      wire,
      spoken,
      replies: [503, 503, 503, said('late')],
      limits: { retries: 3 },
    });
    expect((await send(more.gateway.port, wire, asking(wire, {}))).status).toBe(200);
  });

  it('is neither held back nor counted where the request asks for no form', async () => {
    const { provider, gateway } = await setUp({
      wire,
      spoken,
      replies: [said('plain words')],
      limits: { checks: ['json', 'tool-arguments'] },
    });
    const { text } = await send(gateway.port, wire, asking(wire, {}));
    expect(textIn(wire, text)).toBe('plain words');
    expect(provider.seen).toHaveLength(1);
    expect(gateway.checked).toEqual([]);
  });
});

const jsonText = fc.jsonValue().map((value) => JSON.stringify(value));
const requestOf = fc.dictionary(
  fc.constantFrom('tools', 'functions', 'tool_choice', 'response_format', 'text', 'output_config', 'model'),
  fc.oneof(fc.jsonValue(), fc.constant([{ type: 'function', name: 'f', function: { name: 'f' } }])),
);
const replyOf = fc.oneof(
  jsonText,
  fc.string(),
  fc
    .tuple(fc.constantFrom(...WIRE_NAMES), jsonText)
    .map(([wire, json]) => JSON.stringify(wires[wire].encodeReply(called(json)))),
);

describe.each(WIRE_NAMES)('the checks on %s', (name) => {
  it('report a result, and throw for no request and no reply', async () => {
    const limits: TurnLimits = { checks: ['json', 'tool-arguments'] };
    await fc.assert(
      fc.asyncProperty(requestOf, replyOf, fc.boolean(), async (request, reply, isStream) => {
        const wire = wires[name];
        const body = Buffer.from(JSON.stringify(request));
        const turn = { id: 't', session: { session: 's' }, wire, body, outline: wire.outline(body) };
        const check = createReplyCheck({ turn, limits, limitedBy: [] }, {}, ({ result }) =>
          expect(['passed', 'failed', 'skipped']).toContain(result),
        );
        const type = isStream ? 'text/event-stream' : 'application/json';
        const bytes = Buffer.from(isStream ? `data: ${reply}\n\n` : reply);
        const events = await readReplyBytes(wire, { bytes, type, encoding: undefined });
        if (check !== undefined) expect(typeof check.passes(events)).toBe('boolean');
      }),
      runsOf(100, 300),
    );
  });
});

describe('replies under checks', () => {
  const body = asking('openai-chat', { json: true });
  /** The same bytes whenever it is made: a reply has the time of its making. */
  const whole = (text: string) =>
    JSON.stringify({ ...wires['openai-chat'].encodeReply(said(text)), created: 1 });

  it('are read through a compression, and passed on compressed', async () => {
    const { gateway, provider } = await serve(
      'openai-chat',
      (_, response, nth) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(whole(nth === 1 ? 'no' : '{"ok":true}')));
      },
      { checks: ['json'] },
    );
    const { headers, body: bytes } = await send(gateway.port, 'openai-chat', body);
    expect(headers['content-encoding']).toBe('gzip');
    expect(bytes.equals(gzipSync(whole('{"ok":true}')))).toBe(true);
    expect(provider.seen).toHaveLength(2);
  });

  it('are passed on, and counted as skipped, in an encoding that cannot be read', async () => {
    const { gateway, provider } = await serve(
      'openai-chat',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'own' });
        response.end('secret bytes');
      },
      { checks: ['json'] },
    );
    const { text } = await send(gateway.port, 'openai-chat', body);
    expect(text).toBe('secret bytes');
    expect(provider.seen).toHaveLength(1);
    expect(gateway.checked.map(({ result }) => result)).toEqual(['skipped']);
  });

  it('of more than 1 MiB are passed on whole, unchecked', async () => {
    const long = whole('x'.repeat(3_000_000));
    const { gateway, provider } = await serve(
      'openai-chat',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(long);
      },
      { checks: ['json'] },
    );
    const { text } = await send(gateway.port, 'openai-chat', body);
    expect(text === long).toBe(true);
    expect(provider.seen).toHaveLength(1);
    expect(gateway.checked).toEqual([]);
  });

  it('are not asked for again when the client has left', async () => {
    const { gateway, provider } = await serve(
      'openai-chat',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"choices":');
      },
      { checks: ['json'], reasks: 2 },
    );
    const client = new AbortController();
    const sent = fetch(`http://127.0.0.1:${gateway.port}${ROUTES['openai-chat']}`, {
      method: 'POST',
      body,
      headers: { 'x-instar-key': KEY, 'content-type': 'application/json' },
      signal: client.signal,
    }).catch((error: unknown) => error);
    await expect.poll(() => provider.seen.length, SOON).toBe(1);
    client.abort();
    await sent;
    await provider.seen[0]?.abandoned;
    await expect.poll(() => gateway.reports.map(({ end }) => end), SOON).toEqual(['client-abort']);
    expect(provider.seen).toHaveLength(1);
  });

  it('are not checked for a caller that nobody knows', async () => {
    const gateway = await startGateway({ limits: { checks: ['json'] } });
    open.push(gateway);
    const send = (headers: Record<string, string>) =>
      ask(gateway.port, { path: ROUTES['openai-chat'], body, headers });
    expect((await send({})).headers['x-instar-lessons']).toBeUndefined();
    expect(gateway.checked).toEqual([]);
    expect((await send({ 'x-instar-key': KEY })).headers['x-instar-lessons']).toBe('l_limit');
    expect(gateway.checked.length).toBeGreaterThan(0);
  });

  it('hold a forced call to its tool', async () => {
    const forced = JSON.stringify({
      model: 'fake/m',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'go' }],
      tools: [{ name: 'weather', input_schema: TOOL.parameters }],
      tool_choice: { type: 'tool', name: 'weather' },
    });
    const replies = [said('It is warm.'), called('{"city":"Bern"}')];
    const { gateway, provider } = await setUp({
      wire: 'anthropic',
      spoken: 'anthropic',
      replies,
      limits: { checks: ['json'] },
    });
    const { text } = await send(gateway.port, 'anthropic', forced);
    expect(textIn('anthropic', text)).toBe('{"city":"Bern"}');
    expect(provider.seen).toHaveLength(2);
  });
});
