import fc from 'fast-check';
import { LESSON_KINDS, LESSON_STATES } from '../../../src/core/lesson.ts';
import type { FrontMatterField, SkillFile } from '../../../src/lessons/skill-files/skill-file.ts';

/** Text that tries to end a front matter, start a field, or be read as something other than text. */
const tricky = fc.constantFrom(
  '---',
  '\n---\n',
  '\n---\nname: other\n---\n',
  '\r\n',
  '"',
  "'",
  '\\',
  '\\u0041',
  ': ',
  ' #',
  '|',
  '>-',
  '[a, b]',
  '{{',
  '&a',
  '*a',
  '!!js/function',
  '<<: *x',
  '__proto__',
  'instar-id: "x"',
  '\n  instar-id: "x"',
  '\u0000',
  '\u0085',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\ud800',
  '\u{e0041}',
  '👩‍🔬',
  '\t',
  ' ',
  '\n\n',
);

export const anyText = fc
  .array(fc.oneof(tricky, fc.string(), fc.string({ unit: 'binary' })), { maxLength: 8 })
  .map((parts) => parts.join(''));

const said = anyText.filter((text) => text.trim() !== '');
const letters = 'abcdefghijklmnopqrstuvwxyz';
const nameTail = fc.string({
  unit: fc.constantFrom(...letters, ...'0123456789-'),
  minLength: 1,
  maxLength: 40,
});
const name = fc.oneof(
  fc.constantFrom('no', 'null', 'true', 'on', 'a-', 'a--b'),
  fc.tuple(fc.constantFrom(...letters), nameTail).map((parts) => parts.join('')),
);
const scope = fc.record(
  { agent: anyText, project: anyText, runKind: anyText, domain: anyText },
  { requiredKeys: [] },
);
const id = fc.string({ unit: fc.constantFrom(...letters, ...'0123456789'), minLength: 1, maxLength: 30 });
const origin = fc.record({
  id,
  revision: fc.integer({ min: 1, max: 1_000_000 }),
  kind: fc.constantFrom(...LESSON_KINDS),
  state: fc.constantFrom(...LESSON_STATES),
  scope,
});

/** Fields as other tools write them. */
const extra: fc.Arbitrary<readonly FrontMatterField[]> = fc.subarray([
  { key: 'license', raw: ' Apache-2.0' },
  { key: 'allowed-tools', raw: ' Bash(git:*) Read' },
  { key: 'compatibility', raw: ' >-\n  Needs git,\n  and jq' },
  { key: 'metadata', raw: '\n  author: someone\n  nested:\n    deep: [1, 2]' },
  { key: 'requires', raw: '\n- one\n- two' },
]);
const inlineMetadata: FrontMatterField = {
  key: 'metadata',
  raw: ' {"openclaw":{"emoji":"🦞","requires":{"bins":["jq"]}}}',
};

export const skillFile: fc.Arbitrary<SkillFile> = fc
  .record(
    {
      name,
      description: said,
      content: said.filter((text) => Buffer.byteLength(text) <= 8192),
      category: anyText.filter((text) => text !== ''),
      keywords: fc.array(anyText, { maxLength: 5 }),
      triggers: fc.array(anyText, { maxLength: 5 }),
      isAlways: fc.boolean(),
      origin,
      extra: fc.oneof(extra, fc.constant([inlineMetadata])),
    },
    { requiredKeys: ['name', 'description', 'content', 'extra'] },
  )
  .filter((skill) => skill.content.length > 0);
