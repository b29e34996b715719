import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { replyOf, TURN_MARK } from './person-day.ts';

/** A model that answers each turn of the day in four pieces, ten milliseconds apart. */
const PIECES = 4;
const PIECE_MS = 10;
const WORDS_PER_EVENT = 16;

const event = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-pace',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'pace',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

function eventsOf(body: string): readonly string[] {
  const found = [...body.matchAll(TURN_MARK)].at(-1);
  const { text, call } = replyOf(Number(found?.[1] ?? 0), Number(found?.[2] ?? 0));
  const texts = text.match(new RegExp(`[^]{1,${WORDS_PER_EVENT}}`, 'g')) ?? [];
  const usage = {
    prompt_tokens: Math.ceil(body.length / 4),
    completion_tokens: texts.length,
    total_tokens: 0,
  };
  return [
    ...texts.map((content) => event({ content }, null)),
    ...(call === undefined
      ? []
      : [
          event(
            {
              tool_calls: [
                {
                  index: 0,
                  id: call.id,
                  type: 'function',
                  function: { name: call.name, arguments: call.arguments },
                },
              ],
            },
            null,
          ),
        ]),
    event({}, call === undefined ? 'stop' : 'tool_calls'),
    `data: ${JSON.stringify({ id: 'chatcmpl-pace', object: 'chat.completion.chunk', created: 1, model: 'pace', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ];
}

const server = http.createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const events = eventsOf(Buffer.concat(chunks).toString('utf8'));
    const size = Math.ceil(events.length / PIECES);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (nth: number): void => {
      response.write(events.slice(nth * size, (nth + 1) * size).join(''));
      if (nth + 1 < PIECES) setTimeout(send, PIECE_MS, nth + 1);
      else response.end();
    };
    send(0);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
