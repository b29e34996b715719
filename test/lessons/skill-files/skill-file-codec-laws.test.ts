import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSkillFault } from '../../../src/lessons/skill-files/skill-file.ts';
import {
  decodeSkillFile,
  encodeSkillFile,
  splitFrontMatter,
} from '../../../src/lessons/skill-files/skill-file-codec.ts';
import { runsOf } from '../../support/counts.ts';
import { anyText, skillFile } from './skill-arbitraries.ts';

describe('a skill file', () => {
  it('reads back as written, for any texts', () => {
    fc.assert(
      fc.property(skillFile, (skill) => {
        expect(decodeSkillFile(encodeSkillFile(skill))).toEqual(skill);
      }),
      runsOf(330, 1000),
    );
  });

  it('has exactly the intended fields, each quoted text on its own line', () => {
    fc.assert(
      fc.property(skillFile, (skill) => {
        const cut = splitFrontMatter(encodeSkillFile({ ...skill, extra: [] }));
        const keys = isSkillFault(cut) ? [] : cut.fields.map(({ key }) => key);
        const wanted = ['name', 'description', ...(skill.category === undefined ? [] : ['category'])];
        const { origin, keywords, triggers, isAlways } = skill;
        const isMarked = [origin, keywords, triggers, isAlways].some((one) => one !== undefined);
        expect(keys).toEqual([...wanted, ...(isMarked ? ['metadata'] : [])]);
      }),
      runsOf(170, 500),
    );
  });

  it('drops a foreign field that would read as several, and keeps the rest', () => {
    const field = fc.record({
      key: fc.oneof(anyText, fc.constantFrom('license', 'name', 'metadata', 'instar-id', '__proto__')),
      raw: anyText,
    });
    fc.assert(
      fc.property(skillFile, fc.array(field, { maxLength: 4 }), (skill, extra) => {
        const back = decodeSkillFile(encodeSkillFile({ ...skill, extra }));
        if (isSkillFault(back)) throw new Error(back.why);
        const { extra: kept, ...rest } = back;
        const { extra: _extra, ...meant } = skill;
        expect(rest).toEqual(meant);
        for (const one of kept) expect(extra).toContainEqual(one);
        expect(decodeSkillFile(encodeSkillFile(back))).toEqual(back);
      }),
      runsOf(230, 700),
    );
  });

  it('contains no hidden character in its front matter', () => {
    fc.assert(
      fc.property(skillFile, (skill) => {
        const text = encodeSkillFile({ ...skill, content: 'x', extra: [] });
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });
});
