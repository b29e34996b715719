import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { KNOWN_PROVIDERS } from '../../src/config/known-providers.ts';
import { configSchema } from '../../src/config/schema.ts';

const from = (env: NodeJS.ProcessEnv, input: object = {}, port?: number) =>
  checkConfig(input, { env, ...(port !== undefined && { port }) });

describe('providers from the environment', () => {
  it('serves each known provider whose variable is set, and none that is empty', () => {
    const env = Object.fromEntries(KNOWN_PROVIDERS.map((known) => [known.keyEnv, 'k']));
    const { config, source } = from({ ...env, GROQ_API_KEY: ' ' });
    expect(source).toBe('environment');
    expect(Object.keys(config.providers).sort()).toEqual([
      'anthropic',
      'deepseek',
      'gemini',
      'mistral',
      'openai',
      'openrouter',
      'xai',
    ]);
    expect(config.providers.openrouter).toEqual({
      wire: ['openai-chat', 'anthropic'],
      baseUrl: 'https://openrouter.ai/api/v1',
      keyEnv: 'OPENROUTER_API_KEY',
    });
    expect(configSchema.safeParse({ providers: config.providers }).success).toBe(true);
    expect(JSON.stringify(config)).not.toContain('"k"');
  });

  it('ignores the environment when the file names a provider', () => {
    const input = { providers: { mine: { wire: 'anthropic', baseUrl: 'https://a.example/v1' } } };
    const { config, source } = from({ OPENAI_API_KEY: 'k' }, input);
    expect(source).toBe('file');
    expect(Object.keys(config.providers)).toEqual(['mine']);
  });

  it('lets an alias name a provider that only the environment has', () => {
    const models = { default: 'openai/gpt-5.2' };
    expect(from({ OPENAI_API_KEY: 'k' }, { models }).config.models).toEqual(models);
    expect(() => from({}, { models })).toThrow(/models\.default: names a provider that is not configured/);
  });

  it.each([
    ['OPENAI', 'openai', 'https://proxy.example/v1', 'https://proxy.example/v1'],
    ['OPENAI', 'openai', 'https://proxy.example/v1/', 'https://proxy.example/v1'],
    ['ANTHROPIC', 'anthropic', 'https://proxy.example', 'https://proxy.example/v1'],
    ['ANTHROPIC', 'anthropic', 'https://proxy.example/v1', 'https://proxy.example/v1'],
    ['OPENAI', 'openai', 'http://127.0.0.1:9999/v1', 'http://127.0.0.1:9999/v1'],
  ])('follows %s_BASE_URL', (prefix, name, given, used) => {
    const { config } = from({ [`${prefix}_API_KEY`]: 'k', [`${prefix}_BASE_URL`]: given });
    expect(config.providers[name]?.baseUrl).toBe(used);
  });

  it.each([
    'http://127.0.0.1:4600/v1',
    'http://localhost:4600/v1',
    'http://[::1]:4600/v1',
    'http://2130706433:4600/v1',
  ])('does not call itself when OPENAI_BASE_URL is %s', (given) => {
    const { config, notes } = from({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: given });
    expect(config.providers.openai?.baseUrl).toBe('https://api.openai.com/v1');
    expect(notes.join()).toContain('OPENAI_BASE_URL points at Instar itself');
  });

  it('knows its own port from the config and from the caller', () => {
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:5000/v1' };
    expect(from(env).config.providers.openai?.baseUrl).toContain(':5000');
    expect(from(env, { gateway: { port: 5000 } }).config.providers.openai?.baseUrl).toContain('openai.com');
    expect(from(env, {}, 5000).config.providers.openai?.baseUrl).toContain('openai.com');
  });

  it.each([
    'http://169.254.169.254/v1',
    'http://api.example.com/v1',
    'https://u:secret@api.example.com',
    'nonsense',
  ])('refuses OPENAI_BASE_URL=%s, naming the variable', (given) => {
    const act = () => from({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: given });
    expect(act).toThrow(/^OPENAI_BASE_URL: /);
    expect(act).not.toThrow(/secret@/);
  });

  it('lets an alias name a local server that needs no entry', () => {
    expect(from({}, { models: { default: 'ollama/qwen3', judge: 'lmstudio/x' } }).source).toBe('none');
  });
});
