import net from 'node:net';
import { expect, vi } from 'vitest';
import { type Answer, ask } from '../../support/client.ts';
import { closedPort, type Provider } from '../../support/provider.ts';
import { chatBody, type InstarHere, replyWith, type Stage } from './instar-here.ts';
import { once, type SettingProof, type SettingProofs } from './setting-proof.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 20 };
const HASTY_MS = 150;

const FLOWS: SettingProof = {
  shownIn: 'test/served/flows.slow.ts',
  title: 'asks the model for every call while gateway.flows is off',
};

/** The gateway with its usual settings beside one whose settings are all different. */
export function createGatewayProofs(stage: Stage): SettingProofs {
  const holding = new Map<string, () => void>();
  const tries = new Map<string, number>();
  const provider = (): Promise<Provider> =>
    stage.provider('gateway', (request, response) => {
      const { model } = chatBody(request);
      const [what = ''] = model.split('-');
      if (what === 'flaky') {
        const nth = (tries.get(model) ?? 0) + 1;
        tries.set(model, nth);
        if (nth > 1) return replyWith(response, 'now');
        return void response.writeHead(503, { 'retry-after-ms': '1' }).end('{}');
      }
      if (what !== 'headers' && what !== 'body' && what !== 'rest') return replyWith(response, 'fine');
      // Holds the reply at this point until it is let go.
      const whole = JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [{ index: 0, message: { role: 'assistant', content: 'late' }, finish_reason: 'stop' }],
      });
      const type = { 'content-type': 'application/json', 'content-length': String(whole.length) };
      if (what !== 'headers') response.writeHead(200, type).flushHeaders();
      if (what === 'rest') response.write(whole.slice(0, 40));
      holding.set(model, () => {
        if (what === 'headers') response.writeHead(200, type);
        response.end(what === 'rest' ? whole.slice(40) : whole);
      });
    });
  const sockets = new Set<net.Socket>();
  let deaf: Promise<number> | undefined;
  let isDeafGone = false;
  /** Accepts connections and never says a word: a TLS handshake with it does not end before it is gone. */
  const deafPort = (): Promise<number> => {
    deaf ??= new Promise((resolve) => {
      const server = net.createServer((socket) => {
        if (isDeafGone) socket.destroy();
        else sockets.add(socket.on('error', () => undefined));
      });
      server.unref();
      server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
    });
    return deaf;
  };
  const open = async (name: string, gateway: object): Promise<InstarHere> => {
    const baseUrl = `${(await provider()).url}/v1`;
    const entry = { wire: 'openai-chat', keyEnv: 'P_KEY' };
    const providers = {
      p: { ...entry, baseUrl },
      deaf: { ...entry, baseUrl: `https://127.0.0.1:${await deafPort()}/v1` },
    };
    return stage.open(name, { gateway, providers }, { env: { P_KEY: 'k-000000000000' } });
  };
  const usual = () => open('gateway-usual', {});
  let port: Promise<number> | undefined;
  const chosenPort = (): Promise<number> => {
    port ??= closedPort();
    return port;
  };
  const limits = async () => ({
    port: await chosenPort(),
    allowedHosts: ['instar.example.com'],
    forward: ['/files'],
    maxBodyMb: 1,
    maxMessages: 100,
    maxInFlight: 1,
    retries: 0,
  });
  const tight = async () => open('gateway-tight', await limits());
  const hasty = () =>
    open('gateway-hasty', {
      retries: 0,
      timeouts: { connectMs: HASTY_MS, headersMs: HASTY_MS, firstByteMs: HASTY_MS, idleMs: HASTY_MS },
    });
  const statuses = async (say: (here: InstarHere) => Promise<Answer>): Promise<readonly number[]> => [
    (await say(await usual())).status,
    (await say(await tight())).status,
  ];
  /** With the long time-out the reply arrives when the provider goes on; with the short one nobody waits for it. */
  const waits = (model: string): SettingProof => ({
    acts: async () => {
      const slow = await usual();
      const quick = await hasty();
      let patient: Answer | undefined;
      const pending = slow.chat('hello', { model: `p/${model}-usual` }).then((answer) => {
        patient = answer;
      });
      await vi.waitFor(() => expect(holding.has(`${model}-usual`)).toBe(true), SOON);
      const { status, whole } = await quick.chat('hello', { model: `p/${model}-hasty` });
      expect(status === 200 && whole, 'the short time-out ended it').toBe(false);
      expect(patient, 'the long one did not').toBeUndefined();
      holding.get(`${model}-usual`)?.();
      await pending;
      expect(patient?.status).toBe(200);
    },
  });

  const proxied = once(async () => {
    const allowedHosts = ['instar.example.com'];
    const headers = { host: 'instar.example.com', origin: 'https://instar.example.com' };
    const post = async (name: string, gateway: object): Promise<number> => {
      const { port: at } = await open(name, gateway);
      return (await ask(at, { path: '/v1/feedback', headers, body: '{}' })).status;
    };
    expect(await post('gateway-unproxied', { allowedHosts })).toBe(403);
    expect(await post('gateway-proxied', { allowedHosts, trustedProxy: true })).toBe(401);
  });
  return {
    'gateway.port': { acts: async () => expect((await tight()).port).toBe(await chosenPort()) },
    'gateway.host': {
      acts: async () => {
        const elsewhere = process.platform === 'linux' ? '127.0.0.2' : 'localhost';
        const here = await open('gateway-elsewhere', { host: elsewhere });
        expect(here.daemon.url).toBe(`http://${elsewhere}:${here.port}`);
        expect((await fetch(`${here.daemon.url}/healthz`)).status).toBe(200);
        if (process.platform === 'linux')
          await expect(fetch(`http://127.0.0.1:${here.port}/healthz`)).rejects.toThrow();
      },
    },
    'gateway.allowedHosts[]': {
      acts: async () =>
        expect(
          await statuses(({ port: at }) =>
            ask(at, { method: 'GET', path: '/healthz', headers: { host: 'instar.example.com' } }),
          ),
        ).toEqual([403, 200]),
    },
    'gateway.forward[]': {
      acts: async () =>
        expect(
          await statuses(({ port: at, key }) =>
            ask(at, {
              path: '/v1/files',
              headers: { authorization: `Bearer ${key}` },
              body: '{"model":"p/m"}',
            }),
          ),
        ).toEqual([403, 200]),
    },
    'gateway.trustedProxy=false': { acts: proxied },
    'gateway.trustedProxy=true': { acts: proxied },
    'gateway.maxBodyMb': {
      acts: async () =>
        expect(await statuses((here) => here.chat('x'.repeat(1_200_000)))).toEqual([200, 413]),
    },
    'gateway.maxMessages': {
      acts: async () => {
        const messages = Array.from({ length: 101 }, () => ({ role: 'user', content: 'hello' }));
        const [usually, tightly] = await statuses((here) => here.chat('', { messages }));
        expect([usually, tightly === 200]).toEqual([200, false]);
      },
    },
    'gateway.maxInFlight': {
      acts: async () => {
        const second = async (here: InstarHere, name: string): Promise<number> => {
          const first = here.chat('hello', { model: `p/headers-${name}` });
          await vi.waitFor(() => expect(holding.has(`headers-${name}`)).toBe(true), SOON);
          const { status } = await here.chat('hello');
          holding.get(`headers-${name}`)?.();
          expect((await first).status).toBe(200);
          return status;
        };
        expect([await second(await usual(), 'many'), await second(await tight(), 'one')]).toEqual([200, 503]);
      },
    },
    'gateway.retries': {
      acts: async () => {
        const say = async (here: InstarHere, model: string) => (await here.chat('hello', { model })).status;
        expect([
          await say(await usual(), 'p/flaky-usual'),
          await say(await tight(), 'p/flaky-tight'),
        ]).toEqual([200, 503]);
      },
    },
    'gateway.flows=true': FLOWS,
    'gateway.flows=false': FLOWS,
    'gateway.timeouts.connectMs': {
      acts: async () => {
        let patient: Answer | undefined;
        const pending = (await usual()).chat('hello', { model: 'deaf/m' }).then((answer) => {
          patient = answer;
        });
        const { status } = await (await hasty()).chat('hello', { model: 'deaf/m' });
        expect([status >= 500, patient]).toEqual([true, undefined]);
        isDeafGone = true;
        for (const socket of sockets) socket.destroy();
        await pending;
      },
    },
    'gateway.timeouts.headersMs': waits('headers'),
    'gateway.timeouts.firstByteMs': waits('body'),
    'gateway.timeouts.idleMs': waits('rest'),
  };
}
