import { describe, expect, it } from 'vitest';
import { decodeSkillFile, encodeSkillFile } from '../../../src/lessons/skill-files/skill-file-codec.ts';
import { STARTER_SKILLS } from '../../../src/lessons/starter/starter-skills.ts';
import { addSkill, openMemoryLibrary, publish, textOf } from './skill-folders.ts';

describe('the starter skills', () => {
  it('are 10 to 14, all of them within the limits of the library', async () => {
    expect(STARTER_SKILLS.length).toBeGreaterThanOrEqual(10);
    expect(STARTER_SKILLS.length).toBeLessThanOrEqual(14);
    const library = await openMemoryLibrary();
    const changes = STARTER_SKILLS.map(({ name, description, content, category, keywords }) => {
      const text = textOf(name, content, { description, category });
      return addSkill(name, { ...text, note: { ...text.note, keywords } });
    });
    const { results } = await publish(library, ...changes);
    expect(results.filter(({ status }) => status !== 'applied')).toEqual([]);
  });

  it.each(STARTER_SKILLS.map((skill) => [skill.name, skill] as const))(
    '%s says when, how, an example and what to avoid, in 6 to 15 lines',
    (_, skill) => {
      const lines = skill.content.split('\n').filter((line) => line !== '');
      expect(lines.length).toBeGreaterThanOrEqual(6);
      expect(lines.length).toBeLessThanOrEqual(15);
      expect(skill.description).toMatch(/^Use (when|before|after) .*\.$/);
      expect(lines[0]).toMatch(/^1\. /);
      expect(lines.some((line) => line.startsWith('Example: '))).toBe(true);
      expect(lines.some((line) => line.startsWith('Avoid: '))).toBe(true);
      expect(decodeSkillFile(encodeSkillFile({ ...skill, extra: [] }))).toEqual({ ...skill, extra: [] });
    },
  );
});
