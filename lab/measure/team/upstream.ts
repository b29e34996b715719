import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model that answers at once, and tells its parent which marks of lessons it has seen, each once. */
const MARK = /BENCH-LESSON-\d+/g;
const REPLY = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'bench',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
});

const seen = new Set<string>();
const server = http.createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const gateway = /GATEWAY-\d+/.exec(body)?.[0] ?? '';
    for (const [mark] of body.matchAll(MARK)) {
      const key = `${gateway} ${mark}`;
      if (seen.has(key)) continue;
      seen.add(key);
      process.send?.({ seen: key });
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(REPLY);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
