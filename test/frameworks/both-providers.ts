import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import { createFailure } from '../../src/core/failure.ts';
import { asArray, asObject, asString, parseJson } from '../../src/core/json.ts';
import { type Wire, WireError } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import { type Provider, type SeenRequest, startProvider } from '../support/provider.ts';

const USAGE = { inputTokens: 40, outputTokens: 27, cacheReadTokens: 30 };
/** What the tests look for in answers, for whatever they ask. */
const SAID = [
  'The image shows a sunny city: Boston, weather 22 degrees celsius. First and second differ; its population is 2 million people.',
  'The document says hello world, a test file in PDF with text on testing. 25 * 4 = 100, 15 + 27 = 42.',
  'Space exploration took rockets of NASA to the moon and to Mars, the red planet, in an orbit around the sun.',
  'The trains meet at 4 o’clock: their times differ by two hours.',
  'Artificial intelligence: machines that learn from data with code and neural networks.',
].join(' ');
const THOUGHT =
  'Step by step: train A has a distance of 60 miles by its speed in an hour, train B left later; the relative speed says at what time they meet. The bill: total, tip of 20 percent, tax; split per person, divided by each share of the cost.';
/** What a model would pass to the tools that are offered. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  location: 'Boston, MA',
  expression: '25 * 4',
  query: 'weather',
};

const wordsOf = ({ messages }: ChatRequest): string => {
  const last = messages.findLast(({ role }) => role === 'user');
  return (last?.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
};

/** The tools that a model would call: those that the message is about, else the first. */
function chooseTools(request: ChatRequest): readonly string[] {
  if (request.toolChoice === 'none' || request.messages.at(-1)?.role === 'tool') return [];
  const words = wordsOf(request);
  const names = request.tools.map(({ name }) => name);
  const meant = names.filter((name) =>
    name === 'calculate'
      ? /calculat|\d\s*[*+]\s*\d/i.test(words)
      : /weather/i.test(name) && /weather/i.test(words),
  );
  return meant.length > 0 ? meant : names.slice(0, 1);
}

function answer(request: ChatRequest): readonly ChatEvent[] {
  const start: ChatEvent = { type: 'reply-start', id: 'reply_1', model: request.model };
  const tools = chooseTools(request);
  const calls = tools.flatMap((name, nth): ChatEvent[] => {
    const wanted = asObject(request.tools.find((tool) => tool.name === name)?.parameters.properties);
    const given = Object.keys(wanted).flatMap((key) => (ARGUMENTS[key] ? [[key, ARGUMENTS[key]]] : []));
    return [
      { type: 'tool-start', id: `call_${nth}`, name },
      { type: 'tool-delta', id: `call_${nth}`, json: JSON.stringify(Object.fromEntries(given)) },
    ];
  });
  if (calls.length > 0) return [start, ...calls, { type: 'reply-end', stop: 'tool-calls', usage: USAGE }];
  const isShort = /5 words/.test(request.system.map(({ text }) => text).join(' '));
  const text = isShort ? 'Here are exactly five words' : SAID;
  const thinks: ChatEvent[] =
    request.effort === undefined
      ? []
      : [
          { type: 'reasoning-delta', text: THOUGHT },
          { type: 'reasoning-signature', signature: 'signed' },
        ];
  const pieces = text.split(/(?<= )/).map((piece): ChatEvent => ({ type: 'text-delta', text: piece }));
  return [start, ...thinks, ...pieces, { type: 'reply-end', stop: 'end', usage: USAGE }];
}

type Reply = { readonly status?: number; readonly type?: string; readonly body: string | Buffer };
const json = (value: unknown): Reply => ({ body: JSON.stringify(value) });

/** The routes beside chats, as far as their answers can be told from the request. */
function serveOther({ method, url, body }: SeenRequest): Reply | undefined {
  const at = url.split('?')[0] ?? '';
  const asked = asObject(parseJson(body.toString()));
  if (at.endsWith('/models'))
    return json({ object: 'list', data: [{ id: 'gpt-4o', object: 'model', type: 'model', created: 1 }] });
  if (at.endsWith('/count_tokens') || at.endsWith('/input_tokens')) {
    const tokens = Math.max(1, Math.ceil(body.length / 5));
    return json({ input_tokens: tokens, object: 'response.input_tokens' });
  }
  if (at.endsWith('/embeddings')) return /invalid/.test(body.toString()) ? REFUSED : json(embeddings(asked));
  if (at.endsWith('/audio/speech')) {
    if (/invalid|"input": ?""/.test(body.toString())) return REFUSED;
    return { type: 'audio/mpeg', body: Buffer.concat([Buffer.from('ID3'), body, Buffer.alloc(4000, 7)]) };
  }
  if (at.endsWith('/audio/transcriptions')) return transcription(body.toString('latin1'));
  if (at.endsWith('/completions') && !at.endsWith('/chat/completions'))
    return completion(asked.stream === true);
  if (method === 'POST' && /\/images\/(?:generations|edits)$/.test(at))
    return json({
      created: 1,
      data: Array.from({ length: typeof asked.n === 'number' ? asked.n : 1 }, () => ({
        b64_json: Buffer.alloc(200, 9).toString('base64'),
      })),
      usage: { input_tokens: 9, output_tokens: 9, total_tokens: 18 },
    });
  return undefined;
}

const REFUSED: Reply = {
  status: 400,
  body: JSON.stringify({ error: { message: 'invalid value', type: 'invalid_request_error' } }),
};
const HEARD = 'The quick brown fox jumps over the lazy dog. Hello, this is a test.';
const events = (list: readonly object[]): Reply => ({
  type: 'text/event-stream',
  body: [...list.map((one) => JSON.stringify(one)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
});

function transcription(form: string): Reply {
  if (/invalid|text\/plain/.test(form)) return REFUSED;
  if (!/name="stream"\s+true/.test(form)) return json({ text: HEARD });
  return events([
    { type: 'transcript.text.delta', delta: HEARD },
    { type: 'transcript.text.done', text: HEARD },
  ]);
}

function completion(isStream: boolean): Reply {
  const part = (text: string, finish_reason: string | null) => ({
    ...{ id: 'cmpl_1', object: 'text_completion', created: 1, model: 'gpt-3.5-turbo-instruct' },
    choices: [{ index: 0, text, finish_reason, logprobs: null }],
  });
  return isStream ? events([part(SAID, null), part('', 'stop')]) : json(part(SAID, 'stop'));
}

function embeddings(asked: ReturnType<typeof asObject>) {
  const inputs = Array.isArray(asked.input) ? asArray(asked.input) : [asked.input];
  const size = typeof asked.dimensions === 'number' ? asked.dimensions : 1536;
  const data = inputs.map((input, index) => {
    const vector = new Float32Array(size).fill(0.001);
    for (const word of (asString(input) ?? '').toLowerCase().split(/\W+/).filter(Boolean)) {
      let hash = 7;
      for (const letter of word) hash = (hash * 31 + letter.charCodeAt(0)) % size;
      vector[hash] = (vector[hash] ?? 0) + 1;
    }
    const isPacked = asked.encoding_format === 'base64';
    return {
      object: 'embedding',
      index,
      embedding: isPacked ? Buffer.from(vector.buffer).toString('base64') : [...vector],
    };
  });
  return {
    object: 'list',
    model: asked.model,
    data,
    usage: { prompt_tokens: 9 * data.length, total_tokens: 9 * data.length },
  };
}

/** One server with the routes of both vendors. */
export function startBothProviders(): Promise<Provider> {
  return startProvider(async (request, response) => {
    const { url, body } = request;
    const other = serveOther(request);
    const wire = Object.values(wires).find(({ path }) => url.split('?')[0]?.endsWith(path));
    if (other !== undefined) {
      response.writeHead(other.status ?? 200, { 'content-type': other.type ?? 'application/json' });
      return void response.end(other.body);
    }
    if (wire === undefined)
      return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    try {
      serveChat(wire, body.toString(), response);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      const failure = createFailure('bad-request', error.message, { status: 400 });
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wire.encodeFailure(failure)));
    }
  });
}

function serveChat(
  wire: Wire,
  text: string,
  response: Parameters<Parameters<typeof startProvider>[0]>[1],
): void {
  const asked = asObject(parseJson(text));
  const request = wire.decodeRequest(asked);
  const events = answer(request);
  response.writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' });
  if (!request.stream) return void response.end(JSON.stringify(wire.encodeReply(events)));
  const encoder = wire.createStreamEncoder(asked);
  for (const event of events) response.write(encoder.encode(event));
  response.end();
}
