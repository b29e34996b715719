import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { ConfigError, type Problem } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { interfaceExample } from './interface-example.ts';

const dir = mkdtempSync(join(tmpdir(), 'instar-config-'));
afterAll(() => rmSync(dir, { recursive: true }));

const load = (text: string, env: NodeJS.ProcessEnv = {}) => {
  const file = join(dir, 'config.json');
  writeFileSync(file, text);
  return loadConfig({ file, env });
};

const problemsOf = (input: unknown, env: NodeJS.ProcessEnv = {}): readonly Problem[] => {
  try {
    checkConfig(input, { env });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};
const linesOf = (input: unknown, env?: NodeJS.ProcessEnv): string =>
  problemsOf(input, env)
    .map((problem) => `${problem.path}: ${problem.what} (${problem.fix ?? ''})`)
    .join('\n');

const provider = (more: object = {}) => ({
  providers: { openai: { wire: 'openai', baseUrl: 'https://api.openai.com/v1', ...more } },
});

describe('loadConfig', () => {
  it('reads the example from a file', () => {
    const { config, source } = load(JSON.stringify(interfaceExample));
    expect(source).toBe('file');
    expect(config.models.default).toBe('openai/gpt-5.2');
  });

  it('treats a missing file as empty, unless the user named it', () => {
    const file = join(dir, 'missing.json');
    expect(loadConfig({ file, env: {} }).source).toBe('none');
    expect(() => loadConfig({ file, env: {}, required: true })).toThrow(/missing\.json: does not exist/);
  });

  it('names line and column of bad JSON and does not repeat it', () => {
    expect(() => load('{\n  "gateway": { "port": sk-secret }\n}')).toThrow(/line 2, column 24/);
    expect(() => load('{\n  "gateway": { "port": sk-secret }\n}')).not.toThrow(/sk-/);
  });

  it('reads a file with a byte order mark', () => {
    expect(load('\ufeff{}').source).toBe('none');
    expect(() => load('\ufeff{"a": }')).toThrow(/line 1, column 7: a value is missing/);
  });

  it('names the encoding of a UTF-16 file (it called the first byte an unexpected character)', () => {
    const file = join(dir, 'utf-16.json');
    writeFileSync(file, Buffer.from('\ufeff{}', 'utf16le'));
    expect(() => loadConfig({ file, env: {} })).toThrow(/is UTF-16 text \(save it as UTF-8\)/);
  });

  it('refuses a folder in place of the file with ConfigError (not EISDIR)', () => {
    expect(() => loadConfig({ file: dir, env: {} })).toThrow(ConfigError);
  });

  it('reports every problem at once, one per line with its path', () => {
    const bad = {
      gatway: {},
      gateway: { port: 'x', prot: 1 },
      library: { autonomy: 'gaurded', topK: 6.5 },
      models: { default: 'opnai/gpt', fast: ['openai/x', 'nope/y'] },
      ...provider({ apiKey: 'sk-secret', baseUrl: 'ftp://x', keyEnv: 'sk-secret' }),
    };
    let message = '';
    try {
      load(JSON.stringify(bad));
    } catch (error) {
      message = error instanceof ConfigError ? error.message : '';
    }
    for (const part of [
      'has 10 problems',
      'gatway: is not a setting (did you mean "gateway"?)',
      'gateway.port: must be a number',
      'gateway.prot: is not a setting (did you mean "port"?)',
      'library.autonomy: must be "manual" or "guarded" or "autonomous" (did you mean "guarded"?)',
      'library.topK: must be a whole number',
      'models.default: names a provider that is not configured ("opnai") (did you mean "openai"?)',
      'models.fast[1]: names a provider that is not configured ("nope")',
      'providers.openai.apiKey: API keys are not allowed in this file',
      'providers.openai.baseUrl: is not an http or https URL',
      'providers.openai.keyEnv: must be the name of an environment variable',
    ]) {
      expect(message).toContain(part);
    }
    expect(message).not.toContain('sk-secret');
  });
});

describe('an alias of the policy that is trained here', () => {
  it('is accepted under its own name, and another name is told the right one', () => {
    const withAlias = (ref: string, more: object = {}) => linesOf({ models: { practice: ref }, ...more });
    expect(withAlias('instar/nano')).toBe('');
    expect(withAlias('instar/nona')).toContain('not trained here (write "instar/nano")');
    expect(withAlias('instar/nano', { train: { engine: 'off' } })).toContain('set train.engine to "nano"');
  });
});

describe('provider entries', () => {
  it.each(['key', 'apiKey', 'api_key', 'token', 'password'])(
    'refuses a literal %s and names keyEnv and keyFile',
    (name) => {
      const lines = linesOf(provider({ [name]: 'sk-secret' }));
      expect(lines).toMatch(/keyEnv.*keyFile/);
      expect(lines).not.toContain('sk-secret');
    },
  );

  it.each([
    ['https://user:pw@api.example.com/v1', 'credentials'],
    ['https://api.example.com/v1?x=1', 'query'],
    ['https://api.example.com/v1#x', 'fragment'],
    ['http://169.254.169.254/latest', 'metadata'],
    ['http://0xa9fea9fe/', 'metadata'],
    ['http://[::ffff:a9fe:a9fe]/', 'metadata'],
    ['file:///etc/passwd', 'http'],
    ['api.example.com', 'not a URL'],
  ])('refuses the base URL %s', (baseUrl, what) => {
    const lines = linesOf(provider({ baseUrl }));
    expect(lines).toContain(what);
    expect(lines).not.toContain('pw@');
  });

  it.each([
    'http://api.example.com/v1',
    'http://127.evil.com/v1',
    'http://10.evil.com',
    'http://localhost.evil.com',
  ])('refuses a key over plain http to %s and names https', (baseUrl) => {
    expect(linesOf(provider({ baseUrl, keyEnv: 'K' }))).toMatch(/plain http.*use https/s);
    expect(problemsOf(provider({ baseUrl }))).toEqual([]);
  });

  it.each(['http://127.0.0.1:8080/v1', 'http://localhost:1234', 'http://10.0.0.2/v1', 'http://[::1]:1/v1'])(
    'lets a key go over plain http to %s',
    (baseUrl) => {
      expect(problemsOf(provider({ baseUrl, keyEnv: 'K' }))).toEqual([]);
    },
  );

  it('reports plain http even when another member is invalid', () => {
    const lines = linesOf(
      provider({ baseUrl: 'http://api.example.com', keyEnv: 'K', nonsense: 1, models: 'x' }),
    );
    expect(lines).toContain('plain http');
    expect(lines).toContain('nonsense');
    expect(lines).toContain('models');
  });

  it('explains the union branch that was probably intended', () => {
    expect(linesOf({ train: { engine: 'nanoo' } })).toContain('did you mean "nano"?');
    expect(linesOf({ train: { engine: { tinkr: 'https://x', baseModel: 'm' } } })).toContain(
      'did you mean "tinker"?',
    );
    expect(linesOf({ models: { a: { comand: 'claude' } } })).toContain('did you mean "command"?');
    expect(linesOf(provider({ wire: 'openai-chta' }))).toContain('did you mean "openai-chat"?');
    expect(linesOf(provider({ wire: ['antropic'] }))).toContain('did you mean "anthropic"?');
  });
});

describe('checkConfig', () => {
  it('throws nothing but ConfigError, whatever the JSON', () => {
    const sections = Object.keys(interfaceExample);
    const shaped = fc.dictionary(
      fc.oneof(fc.constantFrom(...sections), fc.string()),
      fc.jsonValue({ maxDepth: 4 }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), shaped), (value) => {
        for (const line of problemsOf(value)) {
          expect(line.path).not.toBe('');
          expect(line.what).not.toBe('');
        }
      }),
    );
  });

  it('refuses an unknown key at any depth, with its path', () => {
    const paths = [
      [],
      ['gateway'],
      ['schedule', 'budget'],
      ['providers', 'openai'],
      ['learn', 'budget'],
      ['log'],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.stringMatching(/^[a-z]{1,12}_[a-z]{0,4}$/), (path, key) => {
        const input = structuredClone(interfaceExample) as Record<string, unknown>;
        let at = input;
        for (const step of path) {
          at[step] ??= {};
          at = at[step] as Record<string, unknown>;
        }
        at[key] = 1;
        expect(problemsOf(input).map((problem) => problem.path)).toContain([...path, key].join('.'));
      }),
    );
  });

  it('prints each problem on one line, whatever the keys contain', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (key) => {
        const message = new ConfigError(problemsOf({ [key]: 1, [`${key}\n\u001b[31m`]: 1 })).message;
        expect(message.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }),
    );
  });
});
