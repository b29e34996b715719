import { existsSync } from 'node:fs';
import http from 'node:http';
import net, { type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { createAdmission } from '../../src/gateway/admission.ts';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { KEY, OWNER_KEY, providerAt, startGateway, type TestGateway } from '../support/gateway.ts';
import { startProvider } from '../support/provider.ts';
import { ROUTES, requestBody, wholeReply } from '../support/samples.ts';

const CHAT = ROUTES['openai-chat'];
const withKey = { authorization: `Bearer ${KEY}` };
const MB = 1024 * 1024;
const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve(options: Parameters<typeof startGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startGateway(options);
  open.push(() => gateway.close());
  return gateway;
}

/** A request whose body never ends: `first` is sent, the rest is not. */
function startBody(port: number, length: number, first = '{"model":'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.write(
        `POST ${CHAT} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${first}`,
        () => resolve(socket),
      );
    });
    socket.on('error', reject);
    open.push(() => void socket.destroy());
  });
}

const replyOn = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(text));
  });

describe('bodies of callers without a key', () => {
  it('(5) 2,050 slow keyless bodies never give the owner a 503', async () => {
    const gateway = await serve();
    for (let n = 0; n < 2050; n += 50)
      await Promise.all(Array.from({ length: 50 }, () => startBody(gateway.port, 100_000)));
    const body = requestBody('openai-chat', false);
    for (let n = 0; n < 5; n++) {
      const answer = await ask(gateway.port, { path: CHAT, body, headers: withKey });
      expect(answer.status).toBe(200);
    }
  }, 120_000);

  it('(5) a body slower than the minimum rate is answered with 408 and its connection closed (not held for two minutes)', async () => {
    const pace = { graceMs: 600, bytesPerSecond: 4096 };
    const gateway = await serve({ pace: { known: { graceMs: 600_000, bytesPerSecond: 1 }, unknown: pace } });
    const socket = await startBody(gateway.port, 100_000);
    const drip = setInterval(() => socket.write('x'), 100);
    open.push(() => clearInterval(drip));
    socket.on('error', () => undefined);
    const reply = await replyOn(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 408 /);
    expect(reply).toContain('too slowly');
    expect(reply.toLowerCase()).toContain('connection: close');
  });

  it('a body that is slow at first and then fast enough is served (not 408)', async () => {
    const pace = { graceMs: 1000, bytesPerSecond: 20 };
    const gateway = await serve({ pace: { known: pace, unknown: pace } });
    const body = requestBody('openai-chat', false, 'x'.repeat(2000));
    const socket = await startBody(gateway.port, body.length, body.slice(0, 10));
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.write(body.slice(10, 1000));
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const reply = replyOn(socket);
    socket.write(body.slice(1000));
    await expect.poll(() => gateway.reports.length).toBe(1);
    socket.end();
    expect(await reply).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('(5) keyless bodies hold at most two bodies’ worth of memory in all, and one per connection (532 MB were held)', () => {
    const admission = createAdmission({ maxInFlight: 2000, maxBodyBytes: 64 * MB, monotonic: () => 0 });
    const connections = Array.from({ length: 12 }, () => ({}));
    let held = 0;
    for (const connection of connections) {
      const slot = admission.enter({ isKnown: false, connection });
      const pipelined = admission.enter({ isKnown: false, connection });
      for (let n = 0; n < 64; n++) if (slot?.hold(MB)) held++;
      // The connection has used what one connection may use.
      expect(pipelined?.hold(MB)).toBe(false);
    }
    expect(held).toBe(128);
    // The pool of known callers is untouched.
    expect(admission.enter({ isKnown: true })?.hold(64 * MB)).toBe(true);
    expect(admission.enter({ isKnown: true, isApi: true })?.hold(16 * MB)).toBe(true);
  });

  it('pipelined keyless requests of one connection are limited; those of another are not', () => {
    const admission = createAdmission({ maxInFlight: 2000, maxBodyBytes: MB, monotonic: () => 0 });
    const [one, other] = [{}, {}];
    const slots = Array.from({ length: 20 }, () => admission.enter({ isKnown: false, connection: one }));
    expect(slots.filter((slot) => slot !== undefined)).toHaveLength(8);
    const further = admission.enter({ isKnown: false, connection: other });
    expect(further).toBeDefined();
    for (const slot of [...slots, further]) slot?.leave();
    expect(admission.inFlight).toBe(0);
    expect(admission.enter({ isKnown: false, connection: one })?.hold(MB)).toBe(true);
  });

  it('a caller whose own credential the provider accepted is not counted among the unknown', async () => {
    const provider = await startProvider((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(wholeReply('openai-chat'));
    });
    open.push(() => provider.close());
    // Connects to this machine, but is not recognised as it: a server on this machine proves nothing about a caller.
    const remote = provider.url.replace('127.0.0.1', '0.0.0.0');
    const gateway = await serve({ providers: [providerAt(remote, ['openai-chat'])] });
    const body = requestBody('openai-chat', false);
    const own = { authorization: 'Bearer sk-of-the-caller' };
    expect((await ask(gateway.port, { path: CHAT, body, headers: own })).status).toBe(200);
    for (let n = 0; n < 600; n += 50)
      await Promise.all(Array.from({ length: 50 }, () => startBody(gateway.port, 100_000)));
    expect((await ask(gateway.port, { path: CHAT, body, headers: own })).status).toBe(200);
    expect((await ask(gateway.port, { path: CHAT, body })).status).toBe(503);
  }, 60_000);

  it('a peer that opens connections and sends nothing loses the oldest of them, and others can connect', async () => {
    const gateway = await serve({ maxConnections: 20 });
    const idle: Socket[] = [];
    for (let n = 0; n < 30; n++)
      idle.push(
        await new Promise<Socket>((resolve) => {
          const socket = net.connect(gateway.port, '127.0.0.1', () => resolve(socket));
          socket.on('error', () => undefined);
          open.push(() => void socket.destroy());
        }),
      );
    await expect.poll(() => idle.filter(({ destroyed }) => destroyed).length).toBeGreaterThanOrEqual(10);
    expect(idle.at(-1)?.destroyed).toBe(false);
    expect((await ask(gateway.port, { method: 'GET', path: '/healthz' })).status).toBe(200);
  });

  it('feedback and lessons in bodies that never end use up no memory without limit (API routes are bounded, too)', async () => {
    const gateway = await serve({
      pace: {
        known: { graceMs: 600, bytesPerSecond: 4096 },
        unknown: { graceMs: 600, bytesPerSecond: 4096 },
      },
    });
    const request = http.request({
      port: gateway.port,
      method: 'POST',
      path: '/api/lessons',
      agent: false,
      headers: {
        authorization: `Bearer ${OWNER_KEY}`,
        'content-type': 'application/json',
        'content-length': 5_000_000,
      },
    });
    const status = new Promise<number>((resolve) => {
      request.on('response', (response) => resolve(response.statusCode ?? 0));
      request.on('error', () => resolve(0));
    });
    request.write('{');
    expect(await status).toBe(408);
    request.destroy();
  });
});

const many = (count: number, one: string): string => Array(count).fill(one).join(',');
const message = '{"role":"user","content":"x"}';
const listOf: Readonly<Record<WireName, (list: string) => string>> = {
  'openai-chat': (list) => `{"model":"m","messages":[${list}]}`,
  anthropic: (list) => `{"model":"m","max_tokens":9,"messages":[${list}]}`,
  'openai-responses': (list) => `{"model":"m","input":[${list}]}`,
};

describe('hostile bodies', () => {
  it.each(WIRE_NAMES)(
    '(5) %s: 400,000 messages are refused with the setting’s name (they stalled the loop 4.1 s)',
    async (wire) => {
      const gateway = await serve();
      const answer = await ask(gateway.port, {
        path: ROUTES[wire],
        body: listOf[wire](many(400_000, message)),
      });
      expect(answer.status).toBe(413);
      expect(answer.text).toContain('Send fewer parts or tools');
      // A body too small to be surveyed is counted by its outline.
      const small = await ask(gateway.port, { path: ROUTES[wire], body: listOf[wire](many(40_000, '{}')) });
      expect(small.status).toBe(413);
      expect(small.text).toContain('more than 10000 messages');
    },
    60_000,
  );

  it.each([
    [
      'one message with 400,000 parts',
      `{"model":"m","messages":[{"role":"user","content":[${many(400_000, '{"type":"text","text":"x"}')}]}]}`,
    ],
    [
      'nesting of 100,000 levels',
      `{"model":"m","messages":[{"role":"user","content":${'['.repeat(1e5)}${']'.repeat(1e5)}}]}`,
    ],
    [
      '500,000 members',
      `{"model":"m","messages":[${message}],${Array.from({ length: 500_000 }, (_, n) => `"k${n}":1`).join(',')}}`,
    ],
    [
      '50,000 tools',
      `{"model":"m","messages":[${message}],"tools":[${many(50_000, '{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}')}]}`,
    ],
    ['20 MB of white space', `{"model":"m","messages":[${message}],${' '.repeat(20e6)}"a":1}`],
  ])(
    '%s: 413, not a stall',
    async (_name, body) => {
      const gateway = await serve();
      const answer = await ask(gateway.port, { path: CHAT, body });
      expect(answer.status).toBe(413);
      expect(gateway.faults).toEqual([]);
    },
    60_000,
  );

  it('a long conversation, a large image and many escapes are served as before', async () => {
    const provider = await startProvider((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(wholeReply('openai-chat'));
    });
    open.push(() => provider.close());
    const gateway = await serve({ providers: [providerAt(provider.url, ['openai-chat'])] });
    const bodies = [
      listOf['openai-chat'](
        many(3000, JSON.stringify({ role: 'user', content: 'a "quoted" line\n'.repeat(20) })),
      ),
      `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${'A'.repeat(12e6)}"}}]}]}`,
      `{"model":"m","messages":[{"role":"user","content":"${'\\"'.repeat(2e6)}"}]}`,
    ];
    for (const body of bodies) {
      const answer = await ask(gateway.port, { path: CHAT, body, headers: { 'x-instar-key': KEY } });
      expect(answer.status).toBe(200);
      expect(provider.seen.at(-1)?.body.equals(Buffer.from(body))).toBe(true);
    }
  }, 60_000);

  it.skipIf(!existsSync('/proc/self/schedstat'))(
    '(5) costs the main thread little at a time: others are answered between the slices (one stalled it 4.1 s)',
    async () => {
      const home = makeHome({});
      const socket = `${home.dir}.measure`;
      const daemon = await startDaemon(home.dir, [], {
        NODE_OPTIONS: `--import ${new URL('./main-thread-cpu.mjs', import.meta.url)}`,
        MEASURE_SOCKET: socket,
      });
      open.push(async () => {
        daemon.child.kill('SIGTERM');
        await daemon.exited;
        home.remove();
      });
      const longestMs = () =>
        new Promise<number>((resolve, reject) => {
          let text = '';
          const connection = net.connect(socket);
          connection.on('data', (chunk) => {
            text += chunk.toString();
          });
          connection.on('error', reject);
          connection.on('end', () => resolve(Number(text)));
        });
      // The first requests load code.
      for (let n = 0; n < 3; n++)
        await ask(daemon.port, { path: CHAT, body: requestBody('openai-chat', false) });
      const body = listOf['openai-chat'](many(400_000, message));
      const stalls: number[] = [];
      for (let n = 0; n < 4; n++) {
        await longestMs();
        const [hostile, health] = await Promise.all([
          ask(daemon.port, { path: CHAT, body }),
          ask(daemon.port, { method: 'GET', path: '/healthz' }),
        ]);
        expect([hostile.status, health.status]).toEqual([413, 200]);
        stalls.push(await longestMs());
      }
      // Measured: 6 to 12 ms, and over 1,000 ms before. The rest is for slower machines and for garbage collection.
      expect(Math.min(...stalls)).toBeLessThan(200);
    },
    120_000,
  );
});
