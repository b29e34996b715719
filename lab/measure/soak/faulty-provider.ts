import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../../src/base/random.ts';
import type { ChatEvent } from '../../../src/core/chat.ts';
import { asObject, asString, parseJson } from '../../../src/core/json.ts';
import type { Wire } from '../../../src/core/wire.ts';
import { wires } from '../../../src/wire/wires.ts';

export interface FaultyProvider {
  readonly port: number;
  /** Replies by what was done to them. */
  readonly counts: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** What a provider does on a bad day, with its share of the replies; the rest goes well. */
const FAULTS: readonly (readonly [name: string, share: number])[] = [
  ['error 500', 0.06],
  ['error 429', 0.05],
  ['slow', 0.05],
  ['cut off', 0.05],
  ['reset in the reply', 0.04],
  ['reset before the reply', 0.03],
  ['not JSON', 0.03],
];

/** A provider on loopback that speaks all dialects and fails in all the ways that real ones do. */
export async function startFaultyProvider(random: Random): Promise<FaultyProvider> {
  const counts = new Map<string, number>();
  const draw = (): string => {
    let left = random.next();
    for (const [name, share] of FAULTS) {
      left -= share;
      if (left < 0) return name;
    }
    return 'well';
  };
  const server = http.createServer((request, response) => {
    readText(request)
      .then(async (text) => {
        const body = asObject(parseJson(text));
        const isEvolver = asString(body.model)?.includes('evolver') ?? false;
        const fault = isEvolver ? 'well' : draw();
        counts.set(fault, (counts.get(fault) ?? 0) + 1);
        const reply = isEvolver ? writeLesson(text) : ANSWERS[Math.floor(random.next() * ANSWERS.length)];
        await answer(response, wireOf(request.url ?? ''), body.stream === true, reply ?? '', fault);
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    counts,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ANSWERS = [
  'The amounts are in report.md now: 12.50, 99.00 and 7.25.',
  'I changed the test so that it waits for the server. All 14 tests pass.',
  `Here is the file.\n\n\`\`\`ts\n${'export const total = (rows: readonly number[]): number => rows.reduce((a, b) => a + b, 0);\n'.repeat(20)}\`\`\``,
  'Done. The release notes mention the three fixes.',
];

const wireOf = (path: string): Wire =>
  path.endsWith('/messages')
    ? wires.anthropic
    : path.endsWith('/responses')
      ? wires['openai-responses']
      : wires['openai-chat'];

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function answer(
  response: ServerResponse,
  wire: Wire,
  isStream: boolean,
  text: string,
  fault: string,
): Promise<void> {
  if (fault === 'reset before the reply') return void response.socket?.resetAndDestroy();
  if (fault.startsWith('error')) {
    const status = Number(fault.slice(6));
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
    return void response.end('{"error":{"message":"the provider has a bad day","type":"server_error"}}');
  }
  const events = toEvents(text);
  const encoder = wire.createStreamEncoder();
  const parts = isStream
    ? events.map((event) => encoder.encode(event))
    : [JSON.stringify(wire.encodeReply(events))];
  if (fault === 'slow') await pause(1_500);
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  if (fault === 'not JSON') return void response.end('<html>gateway time-out</html>');
  const end =
    fault === 'cut off' || fault === 'reset in the reply' ? Math.ceil(parts.length / 2) : parts.length;
  for (const [index, part] of parts.slice(0, end).entries()) {
    const isLast = index === end - 1 && end < parts.length;
    response.write(isStream || !isLast ? part : part.slice(0, part.length / 2));
    if (isStream) await pause(fault === 'slow' ? 100 : 2);
  }
  if (fault === 'reset in the reply') response.socket?.resetAndDestroy();
  else response.end();
}

const toEvents = (text: string): readonly ChatEvent[] => [
  { type: 'reply-start', id: 'reply', model: 'worker' },
  ...(text.match(/\s*\S+(?:\s\S+){0,5}/g) ?? []).map(
    (piece): ChatEvent => ({ type: 'text-delta', text: piece }),
  ),
  { type: 'reply-end', stop: 'end', usage: { inputTokens: 100, outputTokens: 50 } },
];

/** A scripted evolver: makes the demand that the users of the material state into a skill. */
function writeLesson(prompt: string): string {
  const demand = /Put the unit (U\d+) behind every amount of client \d+/.exec(prompt);
  const turn = /\bt_[0-9a-z]{10,}/.exec(prompt)?.[0];
  if (demand === null || turn === undefined) return '[]';
  const [text, unit = ''] = demand;
  const content = [
    `# Amounts with ${unit}`,
    `1. Find every amount that you write into the report.`,
    `2. Put the unit ${unit} behind it, separated by a space.`,
    `3. Read the report once more before you say that it is done.`,
    `Example: 12.50 ${unit}`,
    `Anti-pattern: an amount without its unit.`,
  ].join('\n');
  const skill = {
    name: `amounts-with-${unit.toLowerCase()}`,
    description: `When amounts are written into a report in ${unit}.`,
    content,
    category: 'coding',
    quotes: [{ turn, text }],
  };
  return JSON.stringify([skill]);
}
