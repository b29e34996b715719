import fc from 'fast-check';
import { createRandom, pick } from './random.ts';

/** A JSON syntax tree: it can contain what a parsed value cannot, such as a repeated key or `1.0` beside `1`. */
export type JsonTree =
  | { readonly object: readonly JsonMember[] }
  | { readonly array: readonly JsonTree[] }
  | { readonly string: string }
  | { readonly scalar: string };
export type JsonMember = readonly [key: string, value: JsonTree];

/** Text that is hard for scanners: quotes, backslash runs, brackets, control characters, lone and paired surrogates. */
export const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 12 }) },
  {
    weight: 3,
    arbitrary: fc
      .array(
        fc.constantFrom(
          ...[
            '\\',
            '\\\\',
            '"',
            '\\"',
            '{',
            '}',
            '[',
            ']',
            ',',
            ':',
            '\n',
            '\t',
            '\u0000',
            '/',
            'u0022',
            'é',
          ],
          ...['\u2028', '😀', '\ud83d', '\ude00', '\ufeff', 'model', 'system', 'a', ' '],
        ),
        { maxLength: 10 },
      )
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
);

const scalarTree: fc.Arbitrary<JsonTree> = fc
  .constantFrom(
    ...['null', 'true', 'false', '0', '-0', '7', '-12', '0.10', '1e5', '1E+5', '2.5e-7', '-3E00', '1e999'],
    '12345678901234567890',
  )
  .map((scalar) => ({ scalar }));

export const stringTree = (value: fc.Arbitrary<string>): fc.Arbitrary<JsonTree> =>
  value.map((string) => ({ string }));

export const arrayTree = (element: fc.Arbitrary<JsonTree>, maxLength = 4): fc.Arbitrary<JsonTree> =>
  fc.array(element, { maxLength }).map((array) => ({ array }));

const keyText = fc.oneof(text, fc.constantFrom('__proto__', 'role', 'content', 'model', 'stream', ''));

export const { tree: anyTree } = fc.letrec<{ tree: JsonTree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalarTree,
    stringTree(text),
    arrayTree(tie('tree')),
    fc.array(fc.tuple(keyText, tie('tree')), { maxLength: 4 }).map((object) => ({ object })),
  ),
}));

export const anyMember: fc.Arbitrary<JsonMember> = fc.tuple(keyText, anyTree);

/** Members in any order, each optional, sometimes repeated. */
export const objectTree = (
  usual: readonly fc.Arbitrary<JsonMember>[],
  also: fc.Arbitrary<JsonMember> = anyMember,
): fc.Arbitrary<JsonTree> => {
  const some = usual.map((member) => fc.option(member, { freq: 8, nil: undefined }));
  return fc
    .tuple(fc.tuple(...some), fc.array(fc.oneof(also, ...usual), { maxLength: 2 }), fc.nat())
    .map(([first, extra, seed]) => {
      const present = first.filter((member) => member !== undefined);
      return { object: shuffle([...present, ...extra], createRandom(seed)) };
    });
};

function shuffle<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** One of the many spellings of a tree: `random` chooses white space and escapes. */
export function writeJsonText(tree: JsonTree, random: () => number): string {
  const roomy = random() < 0.6;
  const space = () =>
    roomy && random() < 0.4 ? pick(random, [' ', '\n', '\t', '\r\n', '  ', ' \n\t ']) : '';
  const write = (node: JsonTree): string => `${space()}${writeValue(node)}${space()}`;
  const writeValue = (node: JsonTree): string => {
    if ('scalar' in node) return node.scalar;
    if ('string' in node) return writeString(node.string, random);
    if ('array' in node) return `[${node.array.map(write).join(',') || space()}]`;
    const members = node.object.map(
      ([key, value]) => `${space()}${writeString(key, random)}${space()}:${write(value)}`,
    );
    return `{${members.join(',') || space()}}`;
  };
  return write(tree);
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
  '\b': '\\b',
  '\f': '\\f',
};

function writeString(value: string, random: () => number): string {
  const escapes = random() < 0.3 ? 0.5 : 0;
  let out = '';
  for (const point of value) {
    const isLoneSurrogate = /^[\ud800-\udfff]$/.test(point);
    const isUnsafe = point === '"' || point === '\\' || point < ' ' || isLoneSurrogate;
    if (random() < escapes || (isUnsafe && SHORT[point] === undefined)) out += unicodeEscape(point, random);
    else if (point === '/' && random() < 0.5) out += '\\/';
    else out += isUnsafe ? SHORT[point] : point;
  }
  return `"${out}"`;
}

function unicodeEscape(point: string, random: () => number): string {
  return Array.from({ length: point.length }, (_, i) => {
    const hex = point.charCodeAt(i).toString(16).padStart(4, '0');
    return `\\u${random() < 0.5 ? hex : hex.toUpperCase()}`;
  }).join('');
}
