import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitFrontMatter } from '../../../src/library/skill-file/front-matter.ts';
import { readSkillFile } from '../../../src/library/skill-file/read-skill-file.ts';
import { isFault } from '../../../src/library/skill-file/skill-file.ts';
import { writeSkillFile } from '../../../src/library/skill-file/write-skill-file.ts';
import { anyText, skillFile } from './skill-arbitraries.ts';

describe('a skill file', () => {
  it('reads back as written, for any texts', () => {
    fc.assert(
      fc.property(skillFile, (skill) => {
        expect(readSkillFile(writeSkillFile(skill))).toEqual(skill);
      }),
      { numRuns: 1000 },
    );
  });

  it('has exactly the intended fields, each quoted text on its own line', () => {
    fc.assert(
      fc.property(skillFile, (skill) => {
        const cut = splitFrontMatter(writeSkillFile({ ...skill, extra: [] }));
        const keys = isFault(cut) ? [] : cut.fields.map(({ key }) => key);
        const wanted = ['name', 'description', ...(skill.category === undefined ? [] : ['category'])];
        const isMarked = skill.origin !== undefined || skill.keywords !== undefined;
        expect(keys).toEqual([...wanted, ...(isMarked ? ['metadata'] : [])]);
      }),
      { numRuns: 500 },
    );
  });

  it('drops a foreign field that would read as several, and keeps the rest', () => {
    const field = fc.record({
      key: fc.oneof(anyText, fc.constantFrom('license', 'name', 'metadata', 'instar-id', '__proto__')),
      raw: anyText,
    });
    fc.assert(
      fc.property(skillFile, fc.array(field, { maxLength: 4 }), (skill, extra) => {
        const back = readSkillFile(writeSkillFile({ ...skill, extra }));
        if (isFault(back)) throw new Error(back.why);
        const { extra: kept, ...rest } = back;
        const { extra: _extra, ...meant } = skill;
        expect(rest).toEqual(meant);
        for (const one of kept) expect(extra).toContainEqual(one);
        expect(readSkillFile(writeSkillFile(back))).toEqual(back);
      }),
      { numRuns: 700 },
    );
  });

  it('contains no hidden character in its front matter', () => {
    fc.assert(
      fc.property(skillFile, (skill) => {
        const text = writeSkillFile({ ...skill, content: 'x', extra: [] });
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });
});
