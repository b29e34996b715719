import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import { createFailure } from '../../src/core/failure.ts';
import type { Wire } from '../../src/core/wire.ts';
import { wires } from '../../src/wire/wires.ts';
import { type Provider, startProvider } from '../support/provider.ts';

const USAGE = { inputTokens: 40, outputTokens: 7, cacheReadTokens: 30 };

/** A reply that depends on the request, so that a lost tool, image or result is noticed. */
function replyTo(request: ChatRequest): readonly ChatEvent[] {
  const start: ChatEvent = { type: 'reply-start', id: 'reply_1', model: request.model };
  const results = request.messages.filter((message) => message.role === 'tool');
  if (results.length > 0) {
    const said = results.map(({ callId, content }) => `${callId}=${JSON.stringify(content)}`).join(';');
    return [start, { type: 'text-delta', text: said }, { type: 'reply-end', stop: 'end', usage: USAGE }];
  }
  if (request.tools.length > 0) {
    return [
      start,
      { type: 'text-delta', text: 'Looking.' },
      ...['Zürich', 'Bern'].flatMap((city, n): ChatEvent[] => [
        { type: 'tool-start', id: `call_${n}`, name: request.tools[0]?.name ?? '' },
        ...`{"city":"${city}"}`
          .split('')
          .map((json): ChatEvent => ({ type: 'tool-delta', id: `call_${n}`, json })),
      ]),
      { type: 'reply-end', stop: 'tool-calls', usage: USAGE },
    ];
  }
  const parts = request.messages.flatMap((message) => message.content.map((part) => part.type)).join(',');
  const words = [
    'System: ',
    request.system.map(({ text }) => text).join('|'),
    '. ',
    `Parts: ${parts}`,
    '. Grüezi 👋',
  ];
  return [
    start,
    ...words.map((text): ChatEvent => ({ type: 'text-delta', text })),
    { type: 'reply-end', stop: 'end', usage: USAGE },
  ];
}

/** Serves every wire on its own route, as a real provider does. A model named `fail-STATUS` fails with that status. */
export function startScriptedProvider(answer = replyTo): Promise<Provider> {
  return startProvider(async ({ method, url, body }, response) => {
    if (method === 'GET' && url.endsWith('/models')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ object: 'list', data: [{ id: 'live-1', object: 'model', type: 'model' }] }),
      );
      return;
    }
    const wire: Wire | undefined = Object.values(wires).find(({ path }) => url.split('?')[0]?.endsWith(path));
    if (wire === undefined) return void response.writeHead(404).end();
    const request = wire.decodeRequest(JSON.parse(body.toString()));
    const failing = Number(/^fail-(\d+)$/.exec(request.model)?.[1] ?? 0);
    if (failing > 0) {
      const failure = createFailure('bad-request', 'prompt is too long: 212000 tokens > 200000 maximum', {
        status: failing,
      });
      response.writeHead(failing, { 'content-type': 'application/json', 'x-should-retry': 'false' });
      response.end(JSON.stringify(wire.encodeFailure(failure)));
      return;
    }
    const events = answer(request);
    if (!request.stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wire.encodeReply(events)));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const encoder = wire.createStreamEncoder();
    for (const event of events) {
      response.write(encoder.encode(event));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
}
