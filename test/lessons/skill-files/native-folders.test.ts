import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Note, RELATION_TYPES } from '../../../src/core/lesson.ts';
import { importSkills } from '../../../src/lessons/skill-files/draft-import.ts';
import { exportSkills } from '../../../src/lessons/skill-files/import-export.ts';
import {
  NATIVE_FOLDERS,
  nativeFolder,
  type SkillProgram,
} from '../../../src/lessons/skill-files/native-skills.ts';
import { runsOf } from '../../support/counts.ts';
import {
  addSkill,
  createCounter,
  openMemoryLibrary,
  plant,
  publish,
  scratch,
  textOf,
} from './skill-folders.ts';

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((text) => text.trim());
const note = fc.record(
  {
    context: words,
    keywords: fc.array(words, { maxLength: 3 }),
    tags: fc.array(words, { maxLength: 3 }),
    links: fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 3 }),
    relations: fc.array(
      fc.record({ type: fc.constantFrom(...RELATION_TYPES), to: fc.stringMatching(/^[a-z]{1,8}$/) }),
      { minLength: 1, maxLength: 3 },
    ),
    triggers: fc.array(words, { minLength: 1, maxLength: 3 }),
    importance: fc.double({ min: 0, max: 1, noNaN: true }),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    source: fc.constantFrom('experience', 'told', 'inferred', 'practice'),
    visibility: fc.constantFrom('private', 'scoped', 'shared'),
    halfLifeDays: fc.double({ min: 0.5, max: 1_000, noNaN: true }),
    isAlways: fc.constant(true),
  },
  {
    requiredKeys: [
      'keywords',
      'tags',
      'links',
      'importance',
      'confidence',
      'source',
      'visibility',
      'halfLifeDays',
    ],
  },
) as fc.Arbitrary<Note>;
const programs = Object.keys(NATIVE_FOLDERS) as readonly SkillProgram[];

describe('skills where programs look for them', () => {
  it('come back as the same lessons, metadata included, and change nothing in the library they came from', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ description: words, content: words, note }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...programs),
        async (given, program) => {
          const from = await openMemoryLibrary();
          // Lessons that the library refuses cannot be exported.
          await publish(
            from,
            ...given.map(({ content, ...more }, at) =>
              addSkill(`id-${at}`, textOf(`skill-${at}`, content, more)),
            ),
          );
          const dir = scratch();
          const { faults, written } = await exportSkills(from.lessons(), nativeFolder(dir, program));
          expect(faults).toEqual([]);
          if (written.length === 0) return;
          const options = { state: 'live', newId: createCounter(), lint: () => [] } as const;
          const back = await importSkills(dir, { ...options, find: from.find });
          expect(back.found.flatMap(({ changes }) => changes)).toEqual([]);

          const to = await openMemoryLibrary();
          const imported = await importSkills(dir, { ...options, find: to.find });
          expect(imported.faults).toEqual([]);
          await publish(to, ...imported.found.flatMap(({ changes }) => changes));
          for (const { id, kind, text } of from.lessons()) {
            const { evidence: _evidence, ...same } = text;
            expect(to.lesson(id)).toMatchObject({ kind });
            expect(to.lesson(id)?.text).toEqual({
              ...same,
              evidence: { turns: [], quotes: [], learner: 'import' },
            });
          }
        },
      ),
      runsOf(8, 25),
    );
  });

  it('stand in the folder of the program, once, and say who learned them from which turns', async () => {
    const library = await openMemoryLibrary();
    const text = textOf('iso-dates', 'Write dates as 2026-11-17.');
    const evidence = { turns: ['t_1', 't_2'], quotes: [], learner: 'distiller' };
    await publish(
      library,
      addSkill('a', { ...text, evidence, note: { ...text.note, source: 'experience' } }),
    );
    const dir = scratch();
    for (const [program, path] of [
      ['claude-code', '.claude/skills'],
      ['openclaw', 'skills'],
      ['agents', '.agents/skills'],
    ] as const) {
      expect(nativeFolder(dir, program)).toBe(join(dir, path));
      expect(nativeFolder(join(dir, path), program)).toBe(join(dir, path));
      await exportSkills(library.lessons(), nativeFolder(dir, program));
      const file = readFileSync(join(dir, path, 'iso-dates', 'SKILL.md'), 'utf8');
      expect(file).toContain('\nmetadata:\n  instar-id: "a"\n');
      expect(file).toContain('  instar-source: "experience"\n  instar-learner: "distiller"\n');
      expect(file).toContain('  instar-turns: "[\\"t_1\\",\\"t_2\\"]"\n');
    }
    expect(nativeFolder(join(dir, '.claude'), 'claude-code')).toBe(join(dir, '.claude', 'skills'));
  });

  it('are told where the metadata of a file could be no lesson’s: anybody can write it', async () => {
    const dir = scratch();
    const file = (value: string): string =>
      `---\nname: xx\ndescription: For x.\nmetadata:\n  instar-note: ${JSON.stringify(value)}\n---\n\nDo it.\n`;
    const fine = {
      tags: [],
      links: [],
      importance: 0.5,
      confidence: 0.5,
      visibility: 'scoped',
      halfLifeDays: 9,
    };
    plant(dir, {
      'a/SKILL.md': file(JSON.stringify({ ...fine, source: 'practice', isAlways: true, extra: 1 })).replace(
        'x',
        'a',
      ),
      'b/SKILL.md': file(JSON.stringify({ ...fine, source: 'practice', confidence: 7 })).replace('xx', 'xb'),
      'c/SKILL.md': file('{"source":').replace('xx', 'xc'),
    });
    const to = await openMemoryLibrary();
    const { found } = await importSkills(dir, {
      state: 'proposed',
      newId: createCounter(),
      find: to.find,
      lint: () => [],
    });
    await publish(to, ...found.flatMap(({ changes }) => changes));
    const notes = to.lessons().map(({ text }) => text.note);
    expect(notes.map(({ source, halfLifeDays }) => [source, halfLifeDays])).toEqual([
      ['practice', 9],
      ['told', 180],
      ['told', 180],
    ]);
    expect(notes.some((one) => 'isAlways' in one || 'extra' in one)).toBe(false);
  });
});
