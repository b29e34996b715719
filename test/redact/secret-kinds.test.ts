import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeSecretSamples } from '../../lab/measure/secrets/secret-kinds.ts';
import { createRedactor } from '../../src/redact/redact.ts';
import { alnum, createRandom, pick } from './secret-makers.ts';

const { redactText, redactJson, redactName, digest, hasSecret } = createRedactor({
  known: () => [],
  salt: 'a salt',
});
const MARK = /\[\[secret:[0-9a-f]{8}\]\]/;
const samples = [11, 12, 13].flatMap(makeSecretSamples);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Snippet {
  readonly id: string;
  readonly text: string;
}
const snippets = (name: string): readonly Snippet[] =>
  readFileSync(new URL(`../../lab/measure/secrets/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Snippet);

describe('every kind of secret', () => {
  it('is removed from a text, once and for all', () => {
    const left = samples.filter(({ text, secret }) => {
      const once = redactText(text);
      return once.includes(secret) || hasSecret(once) || redactText(once) !== once;
    });
    expect(left.map(({ kind }) => kind)).toEqual([]);
  });

  it('is removed from a message, from arguments in JSON and from JSON in JSON', () => {
    const left = samples.filter(({ text, secret }) => {
      const escaped = JSON.stringify(secret).slice(1, -1);
      const stored = JSON.stringify(
        redactJson({ content: [{ text }], arguments: JSON.stringify({ cmd: text }) }),
      );
      // Also as text: it stays the same JSON.
      const again = JSON.parse(redactText(JSON.stringify({ a: { text }, b: JSON.stringify({ text }) })));
      const isWhole = typeof again.a.text === 'string' && typeof JSON.parse(again.b).text === 'string';
      return stored.includes(escaped) || hasSecret(stored) || !isWhole;
    });
    expect(left.map(({ kind }) => kind)).toEqual([]);
  });
});

describe('normal texts', () => {
  it.each(['benign', 'benign-held-out'])('are left as they are (under 3 of 100 are altered): %s', (name) => {
    const texts = snippets(name);
    const altered = texts.filter(({ text }) => redactText(text) !== text || redactJson(text) !== text);
    expect(texts.length).toBeGreaterThan(40);
    expect(altered.map(({ id }) => id).slice(Math.floor(0.03 * texts.length))).toEqual([]);
  });
});

describe('an encoded secret', () => {
  const random = createRandom(21);
  const setting = `SERVICE_URL=https://api.example.com\nSERVICE_TOKEN=${pick(random, alnum, 32)}\n`;

  it('is found at every offset in a longer text', () => {
    for (let offset = 0; offset < 30; offset++) {
      const text = `${'x'.repeat(offset)} ${base64(setting)} rest`;
      expect(redactText(text)).toMatch(new RegExp(`^x{${offset}} ${MARK.source} rest$`));
    }
  });

  it('is found in one more encoding inside, and not searched for endlessly', () => {
    const twice = base64(base64(setting));
    expect(hasSecret(twice)).toBe(true);
    expect(hasSecret(base64(encodeURIComponent(setting)))).toBe(true);
    const often = Array.from({ length: 6 }).reduce<string>((text) => base64(text), setting);
    expect(hasSecret(often)).toBe(false);
  });

  it('is replaced as a whole, and data without a secret stays', () => {
    const harmless = base64('SERVICE_URL=https://api.example.com\nSERVICE_PORT=8080\n');
    expect(redactText(`a: ${base64(setting)}\nb: ${harmless}\n`)).toMatch(
      new RegExp(`^a: ${MARK.source}\nb: ${harmless.replace(/[+/=]/g, '\\$&')}\n$`),
    );
  });
});

describe('a key that was cut off', () => {
  const key = `ghp_${pick(createRandom(3), alnum, 36)}`;

  it('is removed at the end of a text and before the sign of a cut', () => {
    for (const end of ['', '…', '...', ' '])
      expect(redactText(`refused: ${key.slice(0, end === ' ' ? 40 : 24)}${end}`)).toMatch(MARK);
    expect(redactText('a prefix such as ghp_')).toBe('a prefix such as ghp_');
  });
});

describe('a name', () => {
  it('has the same mark wherever it stands, so that sessions still match', () => {
    const session = `run with ghp_${pick(createRandom(5), alnum, 36)}`;
    expect(redactName(session)).toMatch(MARK);
    expect(redactName(redactName(session))).toBe(redactName(session));
    expect(redactJson({ session })).toEqual({ session: redactName(session) });
    expect(redactName('sess_01HZX3Q5T7V9B2D4F6H8J0K2M4')).toBe('sess_01HZX3Q5T7V9B2D4F6H8J0K2M4');
  });

  it('is compared by a keyed hash: another installation has another one', () => {
    const other = createRedactor({ known: () => [], salt: 'another salt' });
    expect(digest('hunter2')).toMatch(/^[0-9a-f]{40}$/);
    expect(digest('hunter2')).not.toBe(other.digest('hunter2'));
    expect(digest('hunter2')).toBe(digest('hunter2'));
  });
});

describe('what only resembles a secret', () => {
  it.each([
    '  "credentialId": "B7kTdRsw2LzJP2S4hms31",',
    `curl --user '$USERNAME:$PASSWORD' $API_URL/$GIT_COMMIT --data @f`,
    `token = "${'x'.repeat(14)}.atlasv1.${'x'.repeat(67)}"`,
    'xoxp-1-WorkspaceConfigurationAccessTokenHere',
  ])('stays as it is: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});
