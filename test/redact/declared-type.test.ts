import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/redact/redact.ts';
import { createRandom, NAMELESS } from './secret-makers.ts';

const { redactText } = createRedactor({ known: () => [], salt: 'a salt' });

/** `INSTAR_FUZZ=10` multiplies the number of runs. */
const MORE = Number(process.env.INSTAR_FUZZ ?? 1);

/** A declaration with its type, and the same declaration without it. */
interface Language {
  readonly types: readonly string[];
  readonly typed: (name: string, type: string, quoted: string) => string;
  readonly plain: (name: string, quoted: string) => string;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  TypeScript: {
    types: [
      'string',
      'string | undefined',
      'Readonly<string>',
      'Brand<string, "key">',
      'a.b.C',
      'readonly string[]',
    ],
    typed: (name, type, quoted) => `export const ${name}: ${type} = ${quoted};`,
    plain: (name, quoted) => `export const ${name} = ${quoted};`,
  },
  'TypeScript, minified': {
    types: ['string', 'unknown', 'string|null'],
    typed: (name, type, quoted) => `let ${name}:${type}=${quoted};`,
    plain: (name, quoted) => `let ${name}=${quoted};`,
  },
  'a property of a class': {
    types: ['string', 'string | null'],
    typed: (name, type, quoted) => `  private readonly ${name}?: ${type} = ${quoted};`,
    plain: (name, quoted) => `  private readonly ${name} = ${quoted};`,
  },
  Python: {
    types: [
      'str',
      'str | None',
      'Optional[str]',
      'typing.Final[str]',
      'bytes',
      'Annotated[str, Field(min_length=8)]',
    ],
    typed: (name, type, quoted) => `${name}: ${type} = ${quoted}`,
    plain: (name, quoted) => `${name} = ${quoted}`,
  },
  'a parameter in Python': {
    types: ['str', 'Optional[str]'],
    typed: (name, type, quoted) => `def connect(host, ${name}: ${type} = ${quoted}, port=1):`,
    plain: (name, quoted) => `def connect(host, ${name} = ${quoted}, port=1):`,
  },
  Kotlin: {
    types: ['String', 'String?', 'CharSequence', 'kotlin.String'],
    typed: (name, type, quoted) => `    private val ${name}: ${type} = ${quoted}`,
    plain: (name, quoted) => `    private val ${name} = ${quoted}`,
  },
  Rust: {
    types: [
      '&str',
      "&'static str",
      "&'a mut str",
      'String',
      "Cow<'static, str>",
      'std::string::String',
      '[u8; 32]',
    ],
    typed: (name, type, quoted) => `    let ${name}: ${type} = ${quoted};`,
    plain: (name, quoted) => `    let ${name} = ${quoted};`,
  },
  Go: {
    types: ['string', '*string', '[]byte', 'Text', 'conf.Value'],
    typed: (name, type, quoted) => `var ${name} ${type} = ${quoted}`,
    plain: (name, quoted) => `var ${name} = ${quoted}`,
  },
  'a block in Go': {
    types: ['string', '[]byte'],
    typed: (name, type, quoted) => `const (\n\t${name} ${type} = ${quoted}\n)`,
    plain: (name, quoted) => `const (\n\t${name} = ${quoted}\n)`,
  },
  'C, an array': {
    types: ['[]', '[64]', '[MAX_LENGTH]'],
    typed: (name, type, quoted) => `static char ${name}${type} = ${quoted};`,
    plain: (name, quoted) => `static char ${name} = ${quoted};`,
  },
  'C# and Java': {
    types: ['String', 'string', 'final String', 'const string', 'std::string'],
    typed: (name, type, quoted) => `private ${type} ${name} = ${quoted};`,
    plain: (name, quoted) => `private ${name} = ${quoted};`,
  },
  'Visual Basic': {
    types: ['String', 'Object'],
    typed: (name, type, quoted) => `Dim ${name} As ${type} = ${quoted}`,
    plain: (name, quoted) => `Dim ${name} = ${quoted}`,
  },
  SQL: {
    types: ['varchar(64)', 'NVARCHAR(MAX)', 'text'],
    typed: (name, type, quoted) => `DECLARE @${name} ${type} = ${quoted};`,
    plain: (name, quoted) => `DECLARE @${name} = ${quoted};`,
  },
  Zig: {
    types: ['[]const u8', '*const [32]u8'],
    typed: (name, type, quoted) => `const ${name}: ${type} = ${quoted};`,
    plain: (name, quoted) => `const ${name} = ${quoted};`,
  },
  'Pascal and Ada': {
    types: ['String', 'constant String', 'AnsiString'],
    typed: (name, type, quoted) => `${name} : ${type} := ${quoted};`,
    plain: (name, quoted) => `${name} := ${quoted};`,
  },
  make: {
    types: ['?', ':', '::', ':::', '+'],
    typed: (name, type, quoted) => `${name} ${type}= ${quoted}`,
    plain: (name, quoted) => `${name} = ${quoted}`,
  },
};

const NAMES =
  'apiKey api_key API_KEY db_password DB_PASSWORD clientSecret accessToken github_token passphrase pass appKey ' +
  'title next_token tokenCount publicKey cacheKey color path maxTokens password_hint region';
const VALUES = [
  'string',
  'hunter2',
  'swordfish',
  'changeme',
  '$SECRET',
  'process.env.KEY',
  'eu-west-1',
  '/etc/app',
];

const name = fc.constantFrom(...NAMES.split(' '));
const random = fc
  .tuple(fc.constantFrom(...Object.values(NAMELESS)), fc.integer({ min: 0, max: 2 ** 31 }))
  .map(([make, seed]) => make(createRandom(seed)))
  .filter((value) => !/["'`\n\\]/.test(value));
const value = fc.oneof(
  random,
  random,
  fc.constantFrom(...VALUES),
  fc.string({ maxLength: 12 }).filter((text) => /^[\w.-]*$/.test(text)),
);
const declaration = fc
  .constantFrom(...Object.values(LANGUAGES))
  .chain((language) =>
    fc.record({ language: fc.constant(language), type: fc.constantFrom(...language.types) }),
  );
const around: readonly ((code: string) => string)[] = [
  (code) => code,
  (code) => `package main\n\n${code}\n// more\n`,
  (code) => JSON.stringify({ path: 'a.ts', content: `1\n${code}\n` }),
];

describe('a value behind a name and a type', () => {
  it('is redacted exactly when it is without the type, in every language', () => {
    const seen = { redacted: 0, kept: 0 };
    fc.assert(
      fc.property(
        declaration,
        name,
        value,
        fc.constantFrom('"', "'"),
        fc.constantFrom(...around),
        ({ language, type }, named, secret, quote, wrap) => {
          const quoted = `${quote}${secret}${quote}`;
          const plain = redactText(wrap(language.plain(named, quoted)));
          const typed = redactText(wrap(language.typed(named, type, quoted)));
          const mark = /\[\[secret:[0-9a-f]{8}\]\]/.exec(plain)?.[0];
          expect(typed).toBe(
            wrap(language.typed(named, type, mark === undefined ? quoted : `${quote}${mark}${quote}`)),
          );
          seen[mark === undefined ? 'kept' : 'redacted']++;
        },
      ),
      { numRuns: 3000 * MORE },
    );
    expect(Math.min(seen.redacted, seen.kept)).toBeGreaterThan(300);
  });

  it('is redacted with a string prefix behind the type', () => {
    for (const code of [
      'let api_key: &[u8] = b"dh37dhs73hs82jd73js8";',
      'api_key: str = r"dh37dhs73hs82jd73js8"',
      "DECLARE @ApiKey NVARCHAR(64) = N'dh37dhs73hs82jd73js8'",
      'static NSString *const kApiKey = @"dh37dhs73hs82jd73js8";',
    ])
      expect(redactText(code)).not.toContain('dh37dhs73hs82jd73js8');
  });

  it('does not hide a value that looks like a type because it ends with an equals sign', () => {
    for (const text of [
      'secret: dGhpc2lzMTIzYXNlY3JldA==',
      '{"line":"secret: dGhpc2lzMTIzYXNlY3JldA=","user":"ada"}',
      'token: q83vEjRWeJCrze8SNFZ4kA= # old',
    ])
      expect(redactText(text)).toContain('[[secret:');
  });

  it('leaves declarations, calls and comparisons without a secret as they are', () => {
    for (const text of [
      'const token: string = await getToken(user);',
      'token: Token = Token.from_file("session-3.json")',
      'password: str = Field(default=None, min_length=8)',
      'type Login struct {\n\tPassword string `json:"password"`\n\tUser string = "x"\n}',
      'Credentials::Region = "us-east-1"',
      'let secret: Option<String> = None;',
      'var apiKey string\nvar region string = "eu-west-1"',
      'val tokenPattern: Regex = Regex("[a-z0-9]{20,40}")',
      'password as string = required',
      'passwords[3] = users[3].password',
    ])
      expect(redactText(text)).toBe(text);
  });
});
