import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { createRedactor } from '../../src/redact/redact.ts';
import { HARMLESS } from './harmless.ts';
import { leftOf, PLANTED } from './planted.ts';
import { createRandom, jsonWebToken, keyBlock, pick, SHAPES } from './secret-makers.ts';

const redactor = createRedactor({ known: () => [], salt: 'a salt' });
const { redactText, redactJson, hasSecret } = redactor;
const MARK = /\[\[secret:[0-9a-f]{8}\]\]/;
const make = (shape: string): string => SHAPES[shape]?.(createRandom(7)) ?? '';

describe('the table of secrets', () => {
  it('is long and varied (not a handful of shapes)', () => {
    expect(PLANTED.length).toBeGreaterThan(1000);
    expect(HARMLESS.length).toBeGreaterThan(150);
    expect(new Set(PLANTED.map(({ text }) => text)).size).toBe(PLANTED.length);
  });

  it('leaves no secret in a text', () => {
    const kept = PLANTED.filter((planted) => leftOf(planted, redactText(planted.text)).length > 0);
    expect(kept.map(({ label }) => label)).toEqual([]);
  });

  it('leaves no secret in a JSON value', () => {
    const kept = PLANTED.filter((planted) => {
      const redacted = JSON.stringify(redactJson({ content: [{ text: planted.text }] }));
      return leftOf(planted, redacted).length > 0 || hasSecret(redacted);
    });
    expect(kept.map(({ label }) => label)).toEqual([]);
  });

  it('is detected entry by entry before redaction, and not at all after', () => {
    expect(PLANTED.filter(({ text }) => !hasSecret(text)).map(({ label }) => label)).toEqual([]);
    expect(PLANTED.filter(({ text }) => hasSecret(redactText(text))).map(({ label }) => label)).toEqual([]);
  });
});

describe('the table of look-alikes', () => {
  it('is not changed as text', () => {
    expect(HARMLESS.filter((text) => redactText(text) !== text)).toEqual([]);
  });

  it('is not changed as JSON and as JSON in JSON', () => {
    expect(
      HARMLESS.filter((text) => JSON.stringify(redactJson({ text })) !== JSON.stringify({ text })),
    ).toEqual([]);
    const twice = HARMLESS.map((text) => JSON.stringify(JSON.stringify({ text })));
    expect(twice.filter((text) => redactText(text) !== text)).toEqual([]);
  });
});

describe('a mark', () => {
  const key = make('github classic');

  it('is the same for the same secret, in every context', () => {
    const marks = [key, `TOKEN=${key}`, `{"token": "${key}"}`, `https://x:${key}@y`].map(
      (text) => MARK.exec(redactText(text))?.[0],
    );
    expect(new Set(marks).size).toBe(1);
    expect(redactJson({ token: key })).toEqual({ token: marks[0] });
  });

  it('differs between secrets, and between installations', () => {
    const other = createRedactor({ known: () => [], salt: 'another salt' });
    expect(redactText(make('npm'))).not.toBe(redactText(key));
    expect(other.redactText(key)).not.toBe(redactText(key));
  });

  it('is the same for a private key whether its line breaks are written out or escaped', () => {
    const plain = keyBlock(createRandom(3), 'PRIVATE KEY');
    expect(redactText(JSON.stringify(plain))).toBe(JSON.stringify(redactText(plain)));
  });

  it('replaces only the secret, not the text around it', () => {
    const token = jsonWebToken(createRandom(1));
    expect(redactText(`curl -H "Authorization: Bearer ${token}" https://x`)).toMatch(
      /^curl -H "Authorization: Bearer \[\[secret:\w{8}\]\]" https:\/\/x$/,
    );
    expect(redactText(`DB_PASSWORD=${key}\nPORT=1`)).toMatch(/^DB_PASSWORD=\[\[secret:\w{8}\]\]\nPORT=1$/);
    expect(redactText('postgres://ada:hunter2@db:5432/app')).toMatch(
      /^postgres:\/\/ada:\[\[secret:\w{8}\]\]@db:5432\/app$/,
    );
    expect(redactText(`Set-Cookie: sid=${key}; HttpOnly`)).toMatch(
      /^Set-Cookie: sid=\[\[secret:\w{8}\]\]; HttpOnly$/,
    );
  });
});

describe('known keys', () => {
  const key = 'local/+key"with\\signs=0123';
  const held = createRedactor({ known: () => [key], salt: 'a salt' });
  const mark = held.redactText(key);
  const forms: readonly (readonly [string, string])[] = [
    ['as it is, inside a word', `x${key}y`],
    ['in JSON', JSON.stringify({ a: key })],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ a: key }))],
    ['in a URL', `https://x/?q=${encodeURIComponent(key)}`],
    ['in a URL, small hex', `?q=${encodeURIComponent(key).toLowerCase().replace('key', 'key')}`],
    ['in hex', Buffer.from(key).toString('hex')],
    ['in base64', Buffer.from(key).toString('base64')],
    ['in basic credentials', `Basic ${Buffer.from(`ada:${key}`).toString('base64')}`],
  ];

  it.each(forms)('are found %s', (_where, text) => {
    expect(held.redactText(text)).toContain(mark);
    expect(held.hasSecret(text)).toBe(true);
    expect(redactor.redactText(text)).not.toContain(mark);
  });

  it('are read at each call, so that a new key takes effect at once', () => {
    let keys: readonly string[] = [];
    const changing = createRedactor({ known: () => keys, salt: 's' });
    expect(changing.hasSecret('my own-key-2b')).toBe(false);
    keys = ['own-key-2b'];
    expect(changing.redactText('my own-key-2b')).toMatch(/^my \[\[secret:\w{8}\]\]$/);
    keys = [];
    expect(changing.hasSecret('my own-key-2b')).toBe(false);
  });

  it('are replaced as a whole also where another rule matches a part', () => {
    const odd = 'abc123DEF456,second;half/789';
    const { redactText: redact } = createRedactor({ known: () => [odd], salt: 's' });
    expect(redact(`{ token: ${odd} }`)).toMatch(/^\{ token: \[\[secret:\w{8}\]\] \}$/);
  });

  it('are ignored when they are plain words or too short', () => {
    const { redactText: redact } = createRedactor({
      known: () => ['ollama', 'not-needed', '', 'abc1'],
      salt: 's',
    });
    const text = 'ollama runs here, a key is not-needed, abc1';
    expect(redact(text)).toBe(text);
  });

  it('may contain characters that no header could have', () => {
    const { redactText: redact } = createRedactor({
      known: () => ['schlüssel-\ud800-1234567890'],
      salt: 's',
    });
    expect(redact('plain')).toBe('plain');
  });
});

describe('a JSON value', () => {
  const random = pick(createRandom(5), 'abcdef0123456789', 32);

  it('loses the strings under names of secrets, also in arrays', () => {
    const names = [
      'api_key',
      'apiKey',
      'token',
      'password',
      'secret',
      'client_secret',
      'access_token',
      'private_key',
      'x-api-key',
    ];
    for (const name of names)
      expect(redactJson({ [name]: random })).toEqual({ [name]: expect.stringMatching(MARK) });
    expect(JSON.stringify(redactJson({ api_keys: [random, random] }))).not.toContain(random);
    expect(redactJson({ password: 'swordfish' })).toEqual({ password: expect.stringMatching(MARK) });
    expect(
      redactJson({ headers: { authorization: `Bearer ${random}`, cookie: `a=1; sid=${random}` } }),
    ).toEqual({
      headers: { authorization: expect.stringMatching(/^Bearer \[\[/), cookie: expect.stringMatching(MARK) },
    });
  });

  it('keeps harmless values under such names: schemas, words, placeholders, numbers', () => {
    const value: Json = {
      password: 'string',
      token: null,
      tokens: 4096,
      api_key: '<your key>',
      secret: `\${APP_SECRET}`,
      authorization: 'Bearer ***',
      cookie: '',
      max_tokens: 12,
      properties: { password: { type: 'string', description: 'The password to use' } },
      required: ['password', 'token'],
      session_id: '8f14e45f-ceea-467f-a8d3-2c1b0f5d9a77',
    };
    expect(redactJson(value)).toEqual(value);
  });

  it('loses secrets in member names, and keeps members separate whose redacted names are equal', () => {
    const [first, second] = [make('npm'), make('groq')];
    const redacted = redactJson({ [first]: 1, [second]: 2, [`${first}`.toLowerCase()]: 3 }) as Record<
      string,
      Json
    >;
    expect(Object.values(redacted)).toEqual([1, 2, 3]);
    expect(JSON.stringify(redacted)).not.toContain(first);
  });

  it('loses a value whose name is a neighbouring element', () => {
    expect(JSON.stringify(redactJson(['deploy', '--password', 'hunter2abc']))).not.toContain('hunter2');
    expect(JSON.stringify(redactJson({ name: 'DB_PASSWORD', value: 'hunter2abc' }))).not.toContain('hunter2');
  });

  it('loses secrets in tool arguments, which are JSON in a string', () => {
    const call = {
      function: { name: 'http', arguments: JSON.stringify({ headers: { 'X-Api-Key': random } }) },
    };
    const redacted = redactJson(call) as typeof call;
    expect(redacted.function.arguments).not.toContain(random);
    expect(JSON.parse(redacted.function.arguments)).toEqual({
      headers: { 'X-Api-Key': expect.stringMatching(MARK) },
    });
  });

  it('may have a member called __proto__ and stays an ordinary object', () => {
    const redacted = redactJson(JSON.parse('{"__proto__":{"password":"hunter2abc"}}') as Json);
    expect(JSON.stringify(redacted)).toMatch(/^\{"__proto__":\{"password":"\[\[secret:\w{8}\]\]"\}\}$/);
    expect(Object.getPrototypeOf(redacted)).toBe(Object.prototype);
  });

  it('may be nested 200,000 levels deep (no stack overflow)', () => {
    const deep = JSON.parse(`${'['.repeat(200_000)}"${make('npm')}"${']'.repeat(200_000)}`) as Json;
    let at = redactJson(deep);
    while (Array.isArray(at)) at = (at as readonly Json[])[0] ?? null;
    expect(at).toMatch(MARK);
  });
});
