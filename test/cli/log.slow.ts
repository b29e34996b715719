import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeSecretSamples } from '../../lab/measure/secrets/secret-kinds.ts';
import { createLog, type LogOptions } from '../../src/redact/create-log.ts';
import { openRedactor } from '../../src/redact/open-redactor.ts';

function createBook(options: Partial<LogOptions> = {}, isTTY = false) {
  let text = '';
  const stream = { isTTY, write: (line: string) => (text += line) };
  const log = createLog({ format: 'auto', level: 'info', env: {}, stream, ...options });
  return { log, text: () => text };
}

describe('createLog', () => {
  it('writes JSON lines to anything but a terminal', () => {
    const { log, text } = createBook();
    log.info({ port: 4600 }, 'ready');
    expect(JSON.parse(text())).toEqual({ level: 'info', time: expect.any(String), port: 4600, msg: 'ready' });
  });

  it('writes a line for people on a terminal, in colour unless NO_COLOR is set', () => {
    const colour = createBook({}, true);
    colour.log.warn({ port: 4600, note: 'two words' }, 'careful');
    expect(colour.text()).toContain('\u001b[33mwarn \u001b[0m');
    const plain = createBook({ env: { NO_COLOR: '1' } }, true);
    plain.log.warn({ port: 4600, note: 'two words' }, 'careful');
    expect(plain.text()).toMatch(/^\d\d:\d\d:\d\d warn {2}careful port=4600 note="two words"\n$/);
  });

  it('uses the given format and level', () => {
    const pretty = createBook({ format: 'pretty', level: 'error' });
    pretty.log.info('hidden');
    pretty.log.error('shown');
    expect(pretty.text()).toMatch(/error shown\n$/);
    expect(createBook({ format: 'json' }, true).text()).toBe('');
  });

  it('writes no secret, at any depth, in any case, in fields, errors or messages', () => {
    for (const format of ['json', 'pretty'] as const) {
      const { log, text } = createBook({ format });
      const headers = {
        Authorization: 'Bearer sk-secret-1',
        'X-API-Key': 'sk-secret-2',
        cookie: 'sk-secret-3',
      };
      log.info(
        {
          request: { deep: [{ headers }] },
          key: 'sk-secret-4',
          apiKey: 'sk-secret-5',
          api_key: 'sk-secret-6',
        },
        'x',
      );
      log.info({ err: Object.assign(new Error('upstream failed'), { headers }) }, 'y');
      log.info('sent Bearer sk-secret-7 to them');
      expect(text()).not.toContain('sk-secret');
      expect(text()).toContain('upstream failed');
      expect(text().trim().split('\n')).toHaveLength(3);
    }
  });

  it("writes no secret of a provider's words: in messages, fields, stacks and causes, of any shape", () => {
    for (const format of ['json', 'pretty'] as const) {
      const { log, text } = createBook({ format });
      const samples = makeSecretSamples(2);
      for (const { text: words } of samples) {
        log.warn({ failure: 'bad-request', message: words, deep: [{ words }] }, words);
        log.error({ err: new Error(words, { cause: new Error(words) }) }, 'failed');
      }
      const left = samples.filter(
        ({ secret }) => text().includes(secret) || text().includes(JSON.stringify(secret)),
      );
      expect(left.map(({ kind }) => kind)).toEqual([]);
      expect(text().trim().split('\n')).toHaveLength(2 * samples.length);
    }
  });

  it('knows the keys of the installation that it is given', () => {
    const key = 'not-a-known-shape-but-ours-0123';
    const { log, text } = createBook({ redactor: openRedactor({ salt: 's', keys: () => [key] }) });
    log.info({ sent: key }, `used ${key}`);
    expect(text()).not.toContain(key);
  });

  it('writes one line per record, whatever the content', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('json' as const, 'pretty' as const),
        (message, value, format) => {
          const { log, text } = createBook({ format });
          log.info({ value }, message);
          expect(text().endsWith('\n')).toBe(true);
          expect(text().slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
          if (format === 'json') expect(JSON.parse(text()).value).toBe(value);
        },
      ),
    );
  });
});
