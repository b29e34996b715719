import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AssistantPart, ChatEvent, ChatRequest } from '../../../src/core/chat.ts';
import { asObject, type JsonObject, parseJson } from '../../../src/core/json.ts';
import type { Wire } from '../../../src/core/wire.ts';
import { wires } from '../../../src/wire/wires.ts';

/** Names the turn whose answer is wanted. The gateway passes it on and reads nothing from it. */
export const TURN_HEADER = 'x-bench-turn';
export const LEARNING_MODEL = 'writes-lessons';

export interface RecordedProvider {
  readonly port: number;
  /** The next request that carries this name is answered so. */
  expect(turn: string, reply: readonly AssistantPart[]): void;
  /** The body that came upstream for this turn; each is given out once. */
  received(turn: string): JsonObject | undefined;
  close(): Promise<void>;
}

/**
 * A provider on loopback that answers with the recorded replies, on all three wires. Requests for the learning model are
 * answered by `writeLessons`.
 */
export async function startRecordedProvider(
  writeLessons: (request: ChatRequest) => string,
): Promise<RecordedProvider> {
  const replies = new Map<string, readonly AssistantPart[]>();
  const bodies = new Map<string, JsonObject>();
  let answered = 0;
  const answer = (body: JsonObject, wire: Wire, turn: string): readonly AssistantPart[] | undefined => {
    if (body.model === LEARNING_MODEL) {
      return [{ type: 'text', text: writeLessons(wire.decodeRequest(body)) }];
    }
    bodies.set(turn, body);
    const reply = replies.get(turn);
    replies.delete(turn);
    return reply;
  };
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const wire = Object.values(wires).find((one) => path.endsWith(one.path));
      const body = asObject(parseJson(Buffer.concat(chunks).toString('utf8')));
      const reply = wire && answer(body, wire, String(request.headers[TURN_HEADER] ?? ''));
      if (wire === undefined || reply === undefined) {
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'no answer is recorded for this request' } }));
        return;
      }
      const events = eventsOf(reply, String(body.model), answered++);
      const isStreamed = body.stream === true;
      response.writeHead(200, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' });
      const encoder = wire.createStreamEncoder(body);
      response.end(
        isStreamed
          ? events.map((event) => encoder.encode(event)).join('')
          : JSON.stringify(wire.encodeReply(events)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    expect: (turn, reply) => void replies.set(turn, reply),
    received: (turn) => {
      const body = bodies.get(turn);
      bodies.delete(turn);
      return body;
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function eventsOf(reply: readonly AssistantPart[], model: string, n: number): readonly ChatEvent[] {
  const parts = reply.flatMap((one): readonly ChatEvent[] => {
    if (one.type === 'text') return [{ type: 'text-delta', text: one.text }];
    if (one.type !== 'tool-call') return [];
    return [
      { type: 'tool-start', id: one.id, name: one.name },
      { type: 'tool-delta', id: one.id, json: one.arguments },
    ];
  });
  const stop = reply.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'end';
  return [
    { type: 'reply-start', id: `reply_${n}`, model },
    ...parts,
    { type: 'reply-end', stop, usage: { inputTokens: 900, outputTokens: 60 } },
  ];
}
