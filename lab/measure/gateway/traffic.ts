/** Mulberry32: the same numbers on every machine, so that measurements do not depend on chance. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const ONSETS = ['b', 'br', 'c', 'ch', 'd', 'f', 'g', 'h', 'l', 'm', 'n', 'p', 'qu', 'r', 's', 'st', 't', 'v'];
const RHYMES = ['a', 'al', 'an', 'e', 'en', 'er', 'i', 'in', 'ing', 'o', 'on', 'or', 'u', 'um', 'y'];

const WORDS: readonly string[] = (() => {
  const random = createRandom(1);
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? '';
  return Array.from({ length: 2000 }, () => {
    const syllables = 1 + Math.floor(random() * 3);
    return Array.from({ length: syllables }, () => pick(ONSETS) + pick(RHYMES)).join('');
  });
})();

/** Endless ASCII prose, a given number of characters at a time; it compresses about as well as English. */
export function createText(seed: number): (length: number) => string {
  const random = createRandom(seed);
  return (length) => {
    let text = '';
    // Squared, so that few words are frequent and many are rare, as in natural language.
    while (text.length < length) text += `${WORDS[Math.floor(random() ** 2 * WORDS.length)]} `;
    return text.slice(0, length);
  };
}

/** The model name selects what the upstream does; every proxy passes it on. */
export const MODELS = ['bench-json', 'bench-sse', 'bench-paced', 'bench-slow'] as const;
export type BenchModel = (typeof MODELS)[number];

export interface EventPace {
  readonly events: number;
  readonly everyMs: number;
}

/** Streams with delays between events, like a model's. The others reply at once. */
export const PACES: Partial<Record<BenchModel, EventPace>> = {
  'bench-paced': { events: 20, everyMs: 10 },
  'bench-slow': { events: 40, everyMs: 100 },
};
const EVENTS_AT_ONCE = 50;
export const DONE = 'data: [DONE]\n\n';

/** A number of fixed width, so that it can be overwritten in place. */
export const digits = (value: number): string => String(Math.floor(value)).padStart(16, '0');
/** Placeholder for a reply's number. It makes each reply unique, so that none is deduplicated when recorded. */
export const NUMBER = digits(0);

const words = createText(2);
const ANSWER = words(900);

export const JSON_REPLY = JSON.stringify({
  id: `chatcmpl-${NUMBER}`,
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'bench-json',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: `${NUMBER} ${ANSWER}`, refusal: null },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 1200, completion_tokens: 210, total_tokens: 1410 },
});

/** The same on Anthropic's wire. */
export const ANTHROPIC_REPLY = JSON.stringify({
  id: `msg_${NUMBER}`,
  type: 'message',
  role: 'assistant',
  model: 'bench-json',
  content: [{ type: 'text', text: `${NUMBER} ${ANSWER}` }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1200, output_tokens: 210 },
});

const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'bench-sse',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

/** Carries a number: its send time, or the number of its reply. */
export const NUMBERED_EVENT = event({ content: `@${NUMBER} ` }, null);
export const LAST_EVENT = event({}, 'stop');

/** Fifty events: the first is numbered, the last has the finish reason. */
export const EVENTS: readonly string[] = [
  NUMBERED_EVENT,
  ...Array.from({ length: EVENTS_AT_ONCE - 2 }, () => event({ content: words(12) }, null)),
  LAST_EVENT,
];

/** Body length of an unchanged reply. */
export function replyLength(model: BenchModel): number {
  if (model === 'bench-json') return JSON_REPLY.length;
  const pace = PACES[model];
  const events = pace === undefined ? EVENTS.join('') : NUMBERED_EVENT.repeat(pace.events) + LAST_EVENT;
  return events.length + DONE.length;
}

export type Size = '1 KB' | '64 KB' | '256 KB' | '1 MB';
export const BYTES: Readonly<Record<Size, number>> = {
  '1 KB': 1024,
  '64 KB': 65_536,
  '256 KB': 262_144,
  '1 MB': 1_048_576,
};
/** Of a request of 64 KB, and what each takes: larger requests have a longer history, not longer messages. */
const EXCHANGES = 12;
const EXCHANGE_BYTES = 2900;

/** A request as bytes, with two numbers that are overwritten for each turn. */
interface RequestBytes {
  readonly bytes: Buffer;
  readonly bodyLength: number;
  /** Makes this the given turn of the given session. */
  renumber(session: number, turn: number): void;
}

/** A request in the middle of an agent's work: the same instructions, tools and history as before, and one new message. */
export function createRequest(
  port: number,
  {
    model,
    size,
    headers,
    path = '/v1/chat/completions',
  }: { model: BenchModel; size: Size; headers: Readonly<Record<string, string>>; path?: string },
): RequestBytes {
  const body = bodyOf(model, size);
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': 'bench/1.0',
    authorization: 'Bearer sk-bench',
    'x-instar-session': `bench-${NUMBER}`,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const bytes = Buffer.from(head + body, 'latin1');
  const sessionAt = bytes.indexOf(NUMBER);
  const turnAt = bytes.lastIndexOf(NUMBER);
  return {
    bytes,
    bodyLength: body.length,
    renumber: (session, turn) => {
      bytes.write(digits(session), sessionAt, 'latin1');
      bytes.write(digits(turn), turnAt, 'latin1');
    },
  };
}

function bodyOf(model: BenchModel, size: Size): string {
  const words = createText(3);
  const isLong = size !== '1 KB';
  const exchanges = EXCHANGES + Math.floor((BYTES[size] - BYTES['64 KB']) / EXCHANGE_BYTES);
  const build = (last: string): string =>
    JSON.stringify({
      model,
      ...(model === 'bench-json' ? {} : { stream: true }),
      ...(isLong ? { tools } : {}),
      messages: [...opening, { role: 'user', content: `${last}${NUMBER}` }],
    });
  const tools = isLong ? Array.from({ length: 24 }, (_, nth) => toolOf(nth, words)) : [];
  const opening = [
    { role: 'system', content: words(isLong ? 6000 : 300) },
    ...(isLong ? Array.from({ length: exchanges }, (_, nth) => exchangeOf(nth, words)).flat() : []),
  ];
  const missing = BYTES[size] - build('').length;
  return build(words(missing));
}

const toolOf = (nth: number, words: (length: number) => string) => ({
  type: 'function',
  function: {
    name: `tool_${nth}`,
    description: words(500),
    parameters: {
      type: 'object',
      properties: { path: { type: 'string', description: words(80) }, limit: { type: 'integer' } },
      required: ['path'],
    },
  },
});

/** A user message, a tool call and its result. */
const exchangeOf = (nth: number, words: (length: number) => string) => [
  { role: 'user', content: words(200) },
  {
    role: 'assistant',
    content: words(150),
    tool_calls: [
      {
        id: `call_${nth}`,
        type: 'function',
        function: { name: `tool_${nth}`, arguments: JSON.stringify({ path: words(40), limit: 100 }) },
      },
    ],
  },
  { role: 'tool', tool_call_id: `call_${nth}`, content: words(2200) },
];
