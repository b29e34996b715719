import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { createRedactor } from '../../src/redact/redact.ts';
import { leftOf, NAMED_PLACES, PLACES } from './planted.ts';
import { createRandom, NAMELESS, SHAPES } from './secret-makers.ts';

const KNOWN = 'kQ7+vT/2mZ"x9\\Lw4Rb8Yc3Nf6Hd1Js5Gp0=';
const { redactText, redactJson, hasSecret } = createRedactor({ known: () => [KNOWN], salt: 'a salt' });

/** `INSTAR_FUZZ=10` multiplies the number of runs. */
const MORE = Number(process.env.INSTAR_FUZZ ?? 1);

const seed = fc.integer({ min: 0, max: 2 ** 31 });
const shaped = fc
  .tuple(fc.constantFrom(...Object.values(SHAPES)), seed)
  .map(([make, from]) => make(createRandom(from)));
const nameless = fc
  .tuple(fc.constantFrom(...Object.values(NAMELESS)), seed)
  .map(([make, from]) => make(createRandom(from)));

const WORDS =
  'the quick agent reads a file and writes its token count then tests pass while keys of the map stay sorted no secret is told password fields are empty cookies expire commit early basic rules bearer of news auth flow'.split(
    ' ',
  );
const prose = fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((words) => words.join(' '));

/** Fragments that are combined in every order: names, operators, quotes, line breaks, marks, keys, noise. */
const piece = fc.oneof(
  fc.constantFrom(
    ...'password API_KEY token "secret": client_secret= Authorization: Bearer Basic Cookie: Set-Cookie: sid= -----BEGIN -----END PRIVATE KEY----- https:// :// user:pw@ eyJ sk- sk-ant- AKIA ghp_ [[secret: ]] [[secret:0a1b2c3d]] -u curl --token value is <password> </password> ?key= &sig='.split(
      ' ',
    ),
    ...[
      '"',
      "'",
      '`',
      '\\',
      '\\"',
      '\\n',
      '\n',
      '\r\n',
      ' ',
      '=',
      ':',
      ',',
      '{',
      '}',
      '[',
      ']',
      '(',
      ')',
      '.',
      '…',
      '→',
      '%3D',
    ],
  ),
  shaped,
  nameless,
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constant(KNOWN),
  fc.constant(Buffer.from(`x${KNOWN}y`).toString('base64')),
);
const messy = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(''));

const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, false, 0, 12345678, 'string'),
    messy,
    prose,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(messy, fc.constantFrom('password', 'token', 'headers', 'name', 'value', '__proto__')),
      tie('value'),
      {
        maxKeys: 4,
      },
    ) as fc.Arbitrary<Json>,
  ),
})).value;

/** The structure of a value: every string and name blanked out. */
const shapeOf = (value: Json): unknown => {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return value.map((element: Json) => shapeOf(element));
  if (value === null || typeof value !== 'object') return value;
  return Object.values(value).map((member) => shapeOf(member ?? null));
};

describe('redaction of any text', () => {
  it('removes every secret of a known shape', () => {
    fc.assert(
      fc.property(
        shaped,
        fc.constantFrom(...Object.values(PLACES)),
        prose,
        prose,
        (secret, write, before, after) => {
          const text = `${before} ${write(secret)} ${after}`;
          const redacted = redactText(text);
          expect(leftOf({ label: '', secret, text }, redacted)).toEqual([]);
        },
      ),
      { numRuns: 1200 * MORE },
    );
  });

  it('removes every secret that only its name indicates', () => {
    fc.assert(
      fc.property(
        nameless,
        fc.constantFrom(...Object.values(NAMED_PLACES)),
        prose,
        prose,
        (secret, write, before, after) => {
          const text = `${before}\n${write(secret)}\n${after}`;
          expect(leftOf({ label: '', secret, text }, redactText(text))).toEqual([]);
        },
      ),
      { numRuns: 1200 * MORE },
    );
  });

  it('removes a password in a URL that begins like an option of a command', () => {
    const secret = '-x7EEd0P4_iOyoBLylJLAuNtrh6FTQkN5hkw6lkcZIM';
    expect(redactText(`postgres://ada:${secret}@db.internal:5432/app`)).not.toContain(secret.slice(4, 16));
  });

  it('finds a known key in the base64 of a longer text, at every alignment and line length', () => {
    const column = fc.constantFrom(0, 60, 64, 76);
    const lineBreak = fc.constantFrom('\n', '\r\n', '\\n', '\\r\\n', '\\\\n');
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        column,
        lineBreak,
        fc.boolean(),
        (before, after, width, gap, isUrl) => {
          const bytes = Buffer.from(before + KNOWN + after);
          const encoded = bytes.toString(isUrl ? 'base64url' : 'base64');
          const lines = width === 0 ? [encoded] : (encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? []);
          const redacted = redactText(lines.join(gap));
          expect(redacted).toContain('[[secret:');
          const rest = Buffer.from(redacted.replace(/\[\[secret:\w+\]\]|\\+[nr]|\s/g, ''), 'base64').toString(
            'latin1',
          );
          expect(rest).not.toContain(KNOWN.slice(4, 20));
        },
      ),
      { numRuns: 1000 * MORE },
    );
  });

  it('is idempotent, and finds no secret in redacted text', () => {
    fc.assert(
      fc.property(fc.oneof(messy, prose), (text) => {
        const once = redactText(text);
        expect(redactText(once)).toBe(once);
        expect(hasSecret(once)).toBe(false);
        expect(once).not.toContain(KNOWN);
      }),
      { numRuns: 800 * MORE },
    );
  });

  it('reports a secret exactly when it would change the text', () => {
    fc.assert(
      fc.property(messy, (text) => {
        expect(hasSecret(text)).toBe(redactText(text) !== text);
      }),
      { numRuns: 800 * MORE },
    );
  });

  it('does not change text without secrets', () => {
    fc.assert(
      fc.property(prose, (text) => {
        expect(redactText(text)).toBe(text);
      }),
      { numRuns: 800 * MORE },
    );
  });

  it('preserves the structure of a JSON value, and its JSON text has no secret', () => {
    fc.assert(
      fc.property(json, (value) => {
        const redacted = redactJson(value);
        expect(shapeOf(redacted)).toEqual(shapeOf(value));
        expect(hasSecret(JSON.stringify(redacted))).toBe(false);
        expect(redactJson(redacted)).toEqual(redacted);
      }),
      { numRuns: 800 * MORE },
    );
  });

  it('gives the same text on the fast and on the slow path, also for a known key with quotes', () => {
    const plain = createRedactor({ known: () => [KNOWN.replaceAll(/["\\]/g, 'k')], salt: 'a salt' });
    const quoted = createRedactor({ known: () => [KNOWN], salt: 'a salt' });
    const counts = { same: 0, changed: 0 };
    fc.assert(
      fc.property(
        fc.oneof(json, prose, fc.record({ role: fc.constant('user'), content: prose })),
        fc.constantFrom(plain, quoted),
        (value, redactor) => {
          const text = redactor.redactToText(value);
          expect(text).toBe(JSON.stringify(redactor.redactJson(value)));
          counts[text === JSON.stringify(value) ? 'same' : 'changed']++;
        },
      ),
      { numRuns: 1200 * MORE },
    );
    expect(Math.min(counts.same, counts.changed)).toBeGreaterThan(60);
  });

  it('keeps JSON text valid, with the same structure', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 2), (value, indent) => {
        const redacted = redactText(JSON.stringify(value, null, indent));
        expect(shapeOf(JSON.parse(redacted))).toEqual(shapeOf(value));
      }),
      { numRuns: 800 * MORE },
    );
  });
});
