import { describe, expect, it } from 'vitest';
import { wiresOf } from '../../src/config/provider-entry.ts';
import { configSchema } from '../../src/config/schema.ts';
import { interfaceExample } from './interface-example.ts';

describe('configSchema', () => {
  it("reads the contract's example", () => {
    const config = configSchema.parse(interfaceExample);
    expect(config.providers.openai?.keyEnv).toBe('OPENAI_API_KEY');
    expect(config).toMatchObject(interfaceExample);
  });

  it('gives every section its defaults, which are the example (not empty sections)', () => {
    const { providers, models, schedule, ...rest } = interfaceExample;
    const { calendar, ...hours } = schedule;
    const config = configSchema.parse({});
    expect(config).toMatchObject({ ...rest, schedule: hours, providers: {}, models: {} });
    expect(config.schedule).not.toHaveProperty('calendar');
    expect(config.gateway).toEqual({
      port: 4600,
      host: '127.0.0.1',
      trustedProxy: false,
      allowedHosts: [],
      forward: [],
      flows: false,
    });
    expect(config.log).toEqual({ level: 'info' });
  });

  it.each([
    [
      {
        train: { engine: { tinker: 'https://tinker.example/api', keyEnv: 'TINKER_API_KEY', baseModel: 'q' } },
      },
    ],
    [{ train: { engine: 'off' } }],
    [{ train: { serve: { vllm: 'http://127.0.0.1:8000/v1', keyEnv: 'VLLM_KEY', model: 'q' } } }],
    [{ schedule: { sleep: 'off', calendar: { google: 'primary' } } }],
    [{ schedule: { calendar: { caldav: 'https://dav.example/cal', user: 'me', keyEnv: 'DAV' } } }],
    [{ store: { url: 'sqlite' } }],
    [{ models: { judge: { command: 'claude' }, fast: ['a/b', 'c/d/e'] } }],
    [{ $schema: './config.schema.json' }],
    [{ gateway: { host: '0.0.0.0', allowedHosts: ['instar.example.com', '::1'] } }],
    [{ providers: { local: { wire: 'openai-chat', baseUrl: 'http://192.168.1.4:8000/v1', keyEnv: 'K' } } }],
    [{ providers: { lan: { wire: ['anthropic', 'openai'], baseUrl: 'http://gpu.lan:8000/v1' } } }],
  ])('accepts %j', (input) => {
    expect(configSchema.safeParse(input).error).toBeUndefined();
  });

  it.each([
    [{ schedule: { calendar: {} } }],
    [{ schedule: { calendar: { ics: 'a', google: 'b' } } }],
    [{ schedule: { sleep: '24:00-07:00' } }],
    [{ store: { url: 'mysql://x' } }],
    [{ store: { url: 'mysql://me:pw@db/instar' } }],
    [{ gateway: { host: 'http://x' } }],
    [{ gateway: { port: 65_536 } }],
    [{ providers: { OpenAI: { wire: 'openai', baseUrl: 'https://a.example' } } }],
    [{ providers: { a: { wire: [], baseUrl: 'https://a.example' } } }],
    [{ models: { a: 'no-slash' } }],
    [{ models: { a: [] } }],
    [{ models: { a: { command: 'rm' } } }],
    [{ train: { engine: { tinker: 'http://tinker.example', keyEnv: 'K', baseModel: 'm' } } }],
    [{ train: { serve: { vllm: 'http://vllm.example/v1', keyEnv: 'K' } } }],
    [{ train: { serve: {} } }],
  ])('refuses %j', (input) => {
    expect(configSchema.safeParse(input).success).toBe(false);
  });
});

describe('wiresOf', () => {
  it('reads openai as both of its wires, each once', () => {
    expect(wiresOf({ wire: 'openai' })).toEqual(['openai-chat', 'openai-responses']);
    expect(wiresOf({ wire: ['anthropic', 'openai', 'openai-chat'] })).toEqual([
      'anthropic',
      'openai-chat',
      'openai-responses',
    ]);
  });
});
