import { expect } from 'vitest';
import { type Answer, ask } from '../../support/client.ts';
import { closedPort, type Provider } from '../../support/provider.ts';
import { type InstarHere, replyWith, type Stage } from './instar-here.ts';
import { once, type SettingProof, type SettingProofs } from './setting-proof.ts';

const FLOWS: SettingProof = {
  shownIn: 'test/served/flows.slow.ts',
  title: 'asks the model for every call while gateway.flows is off',
};

/** The gateway with its usual settings beside one whose settings are different. */
export function createGatewayProofs(stage: Stage): SettingProofs {
  const provider = (): Promise<Provider> =>
    stage.provider('gateway', (_request, response) => replyWith(response, 'fine'));
  const open = async (name: string, gateway: object): Promise<InstarHere> => {
    const baseUrl = `${(await provider()).url}/v1`;
    const entry = { wire: 'openai-chat', keyEnv: 'P_KEY' };
    const providers = { p: { ...entry, baseUrl } };
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
  });
  const tight = async () => open('gateway-tight', await limits());
  const statuses = async (say: (here: InstarHere) => Promise<Answer>): Promise<readonly number[]> => [
    (await say(await usual())).status,
    (await say(await tight())).status,
  ];
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
    'gateway.flows=true': FLOWS,
    'gateway.flows=false': FLOWS,
  };
}
