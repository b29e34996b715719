import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LARGEST_FILE_BYTES } from '../../../src/lessons/skill-files/skill-file.ts';
import { decodeSkillFile, encodeSkillFile } from '../../../src/lessons/skill-files/skill-file-codec.ts';
import { anyText, skillFile } from './skill-arbitraries.ts';

const near = (make: (size: number) => string): string => {
  const text = make(LARGEST_FILE_BYTES - 200);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LARGEST_FILE_BYTES);
  return text;
};
const head = '---\nname: aa\ndescription: d\n';
const tail = '\n---\n\nx\n';

describe('a hostile skill file', () => {
  it('never throws: 2000 files, random or with parts removed, doubled or inserted', () => {
    const mutated = fc
      .tuple(skillFile, fc.array(fc.tuple(fc.nat(), fc.nat(40), anyText), { minLength: 1, maxLength: 6 }))
      .map(([skill, cuts]) =>
        cuts.reduce((text, [at, length, put]) => {
          const start = at % (text.length + 1);
          return text.slice(0, start) + put + text.slice(start + length);
        }, encodeSkillFile(skill)),
      );
    let valid = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          mutated,
          anyText.map((text) => `---\n${text}`),
          anyText,
        ),
        (text) => {
          const skill = decodeSkillFile(text);
          if ('ok' in skill) return;
          valid++;
          expect(skill.name).toMatch(/^[a-z][a-z0-9-]{1,62}$/);
          expect(decodeSkillFile(encodeSkillFile(skill))).toEqual(skill);
        },
      ),
      { numRuns: 2000 },
    );
    expect(valid).toBeGreaterThan(100);
  });

  // Each has the maximal size: in quadratic time it would take minutes.
  it.each<[string, (size: number) => string]>([
    ['blanks before a remark', (size) => `${head}x: ${' '.repeat(size)}#${tail}`],
    ['remark signs in a word', (size) => `---\nname: aa\ndescription: ${'#'.repeat(size)}x${tail}`],
    ['quotes in a list', (size) => `${head}tags: [${' '.repeat(size / 2)}x${`"'`.repeat(size / 4)}]${tail}`],
    ['empty items', (size) => `${head}tags: [${','.repeat(size)}]${tail}`],
    ['deep brackets', (size) => `${head}tags: ${'['.repeat(size)}${tail}`],
    ['deep maps', (size) => `${head}m:\n${'  a:\n'.repeat(size / 5)}${tail}`],
    ['aliases of aliases', (size) => `${head}m:\n${'  a: &a [*a, *a, *a]\n'.repeat(size / 21)}${tail}`],
    ['a quote that never closes', (size) => `---\nname: aa\ndescription: "${'\\"'.repeat(size / 2)}${tail}`],
    ['empty lines in a quote', (size) => `---\nname: aa\ndescription: "a${'\n'.repeat(size)}"${tail}`],
    [
      'empty lines in a block',
      (size) => `---\nname: aa\ndescription: >\n${'  a\n\n'.repeat(size / 5)}${tail}`,
    ],
    ['short lines', (size) => `${head}${'- \n'.repeat(size / 3)}${tail}`],
    ['fences that are none', (size) => `${head}x:\n${' ---\n'.repeat(size / 5)}${tail}`],
    ['our own lines', (size) => `${head}metadata:\n${'  instar-id: "a"\n'.repeat(size / 17)}${tail}`],
    ['a deep keyword list of ours', (size) => `${head}instar-keywords: "${'['.repeat(size)}"${tail}`],
    ['dots in a name', (size) => `---\nname: a${'.'.repeat(size)}\ndescription: d${tail}`],
    [
      'fields',
      (size) =>
        `${head}${Array.from({ length: Math.floor(size / 9) }, (_, i) => `k${i}: v`)
          .join('\n')
          .slice(0, size)}${tail}`,
    ],
  ])('is read in linear time: %s', (_, make) => {
    const skill = decodeSkillFile(near(make));
    if (!('ok' in skill)) expect(skill.name).toBe('aa');
  });

  it('pollutes nothing with __proto__, constructor or toString as fields', () => {
    const keys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const lines = keys.map((key) => `${key}:\n  polluted: yes`).join('\n');
    const scope = JSON.stringify('{"__proto__":{"polluted":"yes"},"agent":"a"}');
    const text = `${head}${lines}\nmetadata:\n  instar-id: "x"\n  instar-revision: "1"\n  instar-scope: ${scope}${tail}`;
    const skill = decodeSkillFile(text);
    expect(skill).toMatchObject({ extra: keys.map((key) => ({ key, raw: '\n  polluted: yes' })) });
    expect(skill).toMatchObject({ origin: { scope: { agent: 'a' } } });
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    if ('origin' in skill) expect(skill.origin?.scope).not.toHaveProperty('polluted');
  });

  it.each(['0', '-1', '1.5', '1e99', 'NaN', ''])('has no origin with the revision %j', (revision) => {
    const text = `${head}metadata:\n  instar-id: "x"\n  instar-revision: "${revision}"${tail}`;
    expect(decodeSkillFile(text)).not.toHaveProperty('origin');
  });

  it.each(['', '../x', 'a/b', 'x'.repeat(65), '-x'])('has no origin with the id %j', (id) => {
    const text = `${head}metadata:\n  instar-id: ${JSON.stringify(id)}\n  instar-revision: "1"${tail}`;
    expect(decodeSkillFile(text)).not.toHaveProperty('origin');
  });
});
