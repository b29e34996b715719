import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import { importSkills } from '../../../src/lessons/skill-files/draft-import.ts';
import { exportSkills } from '../../../src/lessons/skill-files/import-export.ts';
import {
  addSkill,
  createCounter,
  lessonOf,
  openMemoryLibrary,
  plant,
  publish,
  scratch,
  skillText,
  textOf,
} from './skill-folders.ts';

const lessons = async (...changes: Parameters<typeof publish>[1][]): Promise<readonly Lesson[]> => {
  const library = await openMemoryLibrary();
  await publish(library, ...changes);
  return library.lessons();
};

describe('exporting skills', () => {
  it('gives another library the same ids and texts, and no changes the second time', async () => {
    const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ description: words, content: words, keyword: words }), {
          minLength: 1,
          maxLength: 4,
        }),
        async (given) => {
          const from = await openMemoryLibrary();
          const changes = given.map(({ description, content, keyword }, index) => {
            const text = textOf(`skill-${index}`, content, {
              description: description.trim(),
              category: 'coding',
            });
            const note = { ...text.note, keywords: [keyword.trim()] };
            return addSkill(`id-${index}`, {
              ...text,
              note,
              scope: index % 2 === 0 ? {} : { project: description.trim() },
            });
          });
          // Lessons that the library refuses cannot be exported.
          await publish(from, ...changes);
          const dir = scratch();
          const { faults, written } = await exportSkills(from.lessons(), dir);
          expect(faults).toEqual([]);
          expect(written).toHaveLength(from.lessons().length);
          const to = await openMemoryLibrary();
          const options = { state: 'live', find: to.find, newId: createCounter(), lint: () => [] } as const;
          const imported =
            written.length === 0 ? { found: [], faults: [] } : await importSkills(dir, options);
          expect(imported.faults).toEqual([]);
          await publish(to, ...imported.found.flatMap((one) => one.changes));
          for (const { id, text } of from.lessons()) {
            const { name, description, content, category, scope } = text;
            expect(to.lesson(id)?.text).toMatchObject({ name, description, content, category, scope });
            expect(to.lesson(id)?.text.note.keywords).toEqual(text.note.keywords);
          }
          const again = written.length === 0 ? [] : (await importSkills(dir, options)).found;
          expect(again.flatMap((one) => one.changes)).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('writes files that only their owner may read, and leaves no temporary ones', async () => {
    const dir = join(scratch(), 'made', 'here');
    await exportSkills(await lessons(addSkill('a', textOf('one'))), dir);
    expect(readdirSync(join(dir, 'one'))).toEqual(['SKILL.md']);
    expect(statSync(join(dir, 'one', 'SKILL.md')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dir, 'one')).mode & 0o777).toBe(0o700);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it('overwrites its own folder of the same lesson, but others only with `overwrite`', async () => {
    const dir = scratch();
    plant(dir, { 'two/SKILL.md': skillText('two', 'Mine.'), 'three/notes.txt': 'mine' });
    mkdirSync(join(dir, 'four'));
    const library = await openMemoryLibrary();
    const names = ['one', 'two', 'three', 'four'];
    await publish(library, ...names.map((name) => addSkill(name, textOf(name))));
    const first = await exportSkills(library.lessons(), dir);
    expect(first.written.map((file) => file.slice(dir.length + 1))).toEqual([
      'four/SKILL.md',
      'one/SKILL.md',
    ]);
    expect(first.faults.map(({ file }) => file)).toEqual([join(dir, 'three'), join(dir, 'two')]);
    expect(readFileSync(join(dir, 'two/SKILL.md'), 'utf8')).toBe(skillText('two', 'Mine.'));
    await publish(library, { op: 'revise', id: 'one', from: 1, text: textOf('one', 'Better.') });
    const second = await exportSkills(library.lessons(), dir, { overwrite: true });
    expect(second).toMatchObject({ faults: [], same: [join(dir, 'four/SKILL.md')] });
    expect(readFileSync(join(dir, 'one/SKILL.md'), 'utf8')).toContain('Better.');
    expect(readFileSync(join(dir, 'three/notes.txt'), 'utf8')).toBe('mine');
  });

  it('follows no link, not even with `overwrite`', async () => {
    const [dir, outside] = [scratch(), scratch()];
    symlinkSync(outside, join(dir, 'one'));
    mkdirSync(join(dir, 'two'));
    symlinkSync(join(outside, 'target'), join(dir, 'two', 'SKILL.md'));
    const all = await lessons(addSkill('a', textOf('one')), addSkill('b', textOf('two')));
    const { written, faults } = await exportSkills(all, dir, { overwrite: true });
    expect(faults).toEqual([{ file: join(dir, 'one'), why: 'is a link or a file, not a folder' }]);
    expect(written).toEqual([join(dir, 'two/SKILL.md')]);
    expect(lstatSync(join(dir, 'two/SKILL.md')).isFile()).toBe(true);
    expect(readdirSync(outside)).toEqual([]);
  });

  it('gives skills of one name and two scopes a folder each, and leaves other kinds out', async () => {
    const dir = scratch();
    const library = await openMemoryLibrary();
    await publish(
      library,
      addSkill('a', textOf('deploy', 'Here.', { scope: { project: 'p' } })),
      addSkill('b', textOf('deploy', 'Anywhere.')),
      { op: 'add', id: 'c', kind: 'fix', state: 'live', text: textOf('a-fix') },
    );
    await exportSkills(library.lessons(), dir);
    const folders = readdirSync(dir).sort();
    expect(folders).toEqual(['deploy', expect.stringMatching(/^deploy--[0-9a-f]{8}$/)]);
    expect(readFileSync(join(dir, 'deploy/SKILL.md'), 'utf8')).toContain('Anywhere.');
    const to = await openMemoryLibrary();
    const { found } = await importSkills(dir, {
      state: 'live',
      find: to.find,
      newId: createCounter(),
      lint: () => [],
    });
    await publish(to, ...found.flatMap(({ changes }) => changes));
    expect(lessonOf(to, 'a').text.scope).toEqual({ project: 'p' });
  });

  it('reports a failed write, and never rejects', async () => {
    const dir = scratch();
    plant(dir, { file: '' });
    const { faults } = await exportSkills(await lessons(addSkill('a', textOf('one'))), join(dir, 'file'));
    expect(faults).toEqual([
      { file: join(dir, 'file/one/SKILL.md'), why: expect.stringContaining('cannot be written') },
    ]);
  });
});
