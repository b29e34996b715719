import { digits, type Model, NUMBER } from './replies.ts';
import { createText } from './text.ts';

export type Size = '1 KB' | '64 KB';
const BYTES: Record<Size, number> = { '1 KB': 1024, '64 KB': 65_536 };

/** A request as bytes, with two numbers that are overwritten for each turn. */
export interface RequestBytes {
  readonly bytes: Buffer;
  readonly bodyLength: number;
  /** Makes this the given turn of the given session. */
  renumber(session: number, turn: number): void;
}

/** A request in the middle of an agent's work: the same instructions, tools and history as before, and one new message. */
export function createRequest(
  port: number,
  { model, size, headers }: { model: Model; size: Size; headers: Readonly<Record<string, string>> },
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
  const head = `POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n`;
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

function bodyOf(model: Model, size: Size): string {
  const words = createText(3);
  const isLong = size === '64 KB';
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
    ...(isLong ? Array.from({ length: 12 }, (_, nth) => exchangeOf(nth, words)).flat() : []),
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
