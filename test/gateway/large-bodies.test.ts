import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { ask } from '../support/client.ts';
import { KEY, providerAt, startGateway } from '../support/gateway.ts';
import { startProvider } from '../support/provider.ts';
import { ROUTES } from '../support/samples.ts';

const MB = 1024 * 1024;
const LESSON = 'Answer in metres.';

const requestOf = (bytes: number, stream = false): Buffer =>
  Buffer.from(
    JSON.stringify({
      model: 'm',
      stream,
      messages: [
        { role: 'system', content: 'You are careful.' },
        { role: 'user', content: `é${'x'.repeat(bytes)}` },
      ],
    }),
  );

/** A server that answers as soon as it has the headers of a request, whatever becomes of the body. */
async function startHasty(
  reply: string,
  then: (socket: net.Socket) => void,
): Promise<{ url: string; close(): void }> {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.pause();
      socket.write(reply);
      then(socket);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

describe('a large request', () => {
  it.each([15 * 1024, 64 * 1024, 3 * MB])(
    'of %i bytes reaches the provider with its lesson, byte for byte',
    async (bytes) => {
      const provider = await startProvider((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{}');
      });
      const gateway = await startGateway({
        providers: [providerAt(provider.url, WIRE_NAMES)],
        block: LESSON,
      });
      const body = requestOf(bytes);
      const headers = { 'x-instar-key': KEY };
      const answer = await ask(gateway.port, { path: ROUTES['openai-chat'], body, headers });
      expect(answer.status).toBe(200);
      const [seen] = provider.seen;
      expect(seen?.headers['content-length']).toBe(String(seen?.body.length));
      const wanted = body.toString().replace('careful.', `careful.\\n\\n${LESSON}`);
      expect(seen?.body.toString() === wanted).toBe(true);
      await gateway.close();
      await provider.close();
    },
  );

  it('gets the error of a provider that refuses it before reading it', async () => {
    const error = '{"error":{"message":"too long","type":"invalid_request_error"}}';
    const provider = await startHasty(
      `HTTP/1.1 413 Content Too Large\r\ncontent-type: application/json\r\ncontent-length: ${error.length}\r\n\r\n${error}`,
      () => undefined,
    );
    const gateway = await startGateway({ providers: [providerAt(provider.url, WIRE_NAMES)] });
    const answer = await ask(gateway.port, { path: ROUTES['openai-chat'], body: requestOf(8 * MB) });
    expect(answer.status).toBe(413);
    expect(answer.text).toBe(error);
    await gateway.close();
    provider.close();
  });

  it('arrives whole at a provider that begins its reply before it has read the request', async () => {
    let received = 0;
    const provider = await startHasty(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n7\r\n: hi\n\n\n\r\n',
      (socket) => {
        socket.on('data', (chunk: Buffer) => {
          received += chunk.length;
          if (chunk.subarray(-2).toString() === ']}') socket.end('0\r\n\r\n');
        });
        setTimeout(() => socket.resume(), 200);
      },
    );
    const gateway = await startGateway({ providers: [providerAt(provider.url, WIRE_NAMES)] });
    const body = requestOf(8 * MB, true);
    const answer = await ask(gateway.port, { path: ROUTES['openai-chat'], body });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(': hi\n\n\n');
    expect(received).toBeGreaterThan(8 * MB - 64 * 1024);
    await gateway.close();
    provider.close();
  });
});
