import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { Library } from '../../../src/core/library.ts';
import { isSameSkill } from '../../../src/lessons/skill-files/skill-file.ts';
import { decodeSkillFile } from '../../../src/lessons/skill-files/skill-file-codec.ts';
import { runsOf } from '../../support/counts.ts';
import { openMirror } from './open-mirror.ts';
import { addSkill, openMemoryLibrary, plant, publish, skillText, textOf } from './skill-folders.ts';

/** Seconds on an idle machine. */
vi.setConfig({ testTimeout: 240_000 });

/** The edits between two passes; no folder is edited twice in that time. */
interface Step {
  readonly person: readonly {
    readonly what: 'edit' | 'add' | 'delete' | 'rename' | 'break';
    readonly which: number;
  }[];
  readonly library: readonly {
    readonly what: 'revise' | 'add' | 'retire' | 'return';
    readonly which: number;
  }[];
  readonly mirror: 'runs' | 'stopped' | 'forgets';
}

const which = fc.nat(7);
const step: fc.Arbitrary<Step> = fc.record({
  person: fc.uniqueArray(
    fc.record({ what: fc.constantFrom('edit', 'add', 'delete', 'rename', 'break'), which }),
    {
      maxLength: 3,
      selector: ({ which: one }) => one,
    },
  ),
  library: fc.array(fc.record({ what: fc.constantFrom('revise', 'add', 'retire', 'return'), which }), {
    maxLength: 3,
  }),
  mirror: fc.constantFrom('runs', 'stopped', 'forgets'),
});

let count = 0;
const token = (who: string): string => `${who}-${++count}`;

async function change(library: Library, { what, which: index }: Step['library'][number]): Promise<void> {
  const lesson = library.lessons()[index];
  const id = `l-${++count}`;
  if (what === 'add') await publish(library, addSkill(id, textOf(id, token('library'))));
  else if (lesson === undefined) return;
  else if (what === 'retire') await publish(library, { op: 'retire', id: lesson.id, reason: 'test' });
  else if (what === 'return') await publish(library, { op: 'move', id: lesson.id, to: 'live' });
  else {
    const text = { ...lesson.text, content: token('library') };
    await publish(library, { op: 'revise', id: lesson.id, from: lesson.revision, text });
  }
}

/** The texts that must not be lost. */
function touch(
  dir: string,
  folder: string | undefined,
  what: Step['person'][number]['what'],
): string | undefined {
  const said = token('person');
  if (what === 'add') {
    plant(dir, { [`p-${count}/SKILL.md`]: skillText(`p-${count}`, said) });
    return said;
  }
  if (folder === undefined) return undefined;
  const file = join(dir, folder, 'SKILL.md');
  const text = readFileSync(file, 'utf8');
  if (what === 'delete') rmSync(file);
  else if (what === 'break') writeFileSync(file, `no front matter ${said}`);
  else if (what === 'rename') renameSync(join(dir, folder), join(dir, `r-${++count}`));
  else if (text.startsWith('---')) {
    writeFileSync(file, `${text}${said}\n`);
    return said;
  }
  return undefined;
}

const foldersIn = (dir: string): readonly string[] =>
  readdirSync(dir).filter((name) => existsSync(join(dir, name, 'SKILL.md')));

const everything = (dir: string, library: Library): string =>
  [
    ...library.lessons().flatMap(({ id }) => library.history(id).map(({ text }) => text.content)),
    ...readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.includes('/SKILL.md'))
      .map((path) => readFileSync(join(dir, path), 'utf8')),
  ].join('\n');

it('folder and library agree after any edits by people and learners, and no text of a person is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const library = await openMemoryLibrary();
      await publish(library, ...['a', 'b', 'c', 'd'].map((id) => addSkill(id, textOf(`${id}-skill`))));
      const root = mkdtempSync(join(tmpdir(), 'instar-mirror-'));
      const dir = join(root, 'skills');
      let mirror = await openMirror(dir, library);
      const said: string[] = [];
      for (const { person, library: changes, mirror: state } of steps) {
        if (state !== 'runs') await mirror.close();
        const folders = foldersIn(dir);
        for (const one of person) said.push(...[touch(dir, folders[one.which], one.what) ?? []].flat());
        for (const one of changes) await change(library, one);
        if (state === 'forgets') rmSync(join(dir, '.mirror.json'), { force: true });
        if (state !== 'runs') mirror = await openMirror(dir, library);
        await mirror.settle();
      }
      const broken = new Set(
        mirror.faults().map(({ file }) => file.slice(dir.length + 1).split('/')[0] ?? ''),
      );
      const shown = library.shown(Date.now());
      const folders = foldersIn(dir);
      for (const folder of folders) {
        if (broken.has(folder)) continue;
        const skill = decodeSkillFile(readFileSync(join(dir, folder, 'SKILL.md'), 'utf8'));
        if ('ok' in skill) throw new Error(`${folder} ${skill.why}`);
        // The folder of a file that waits may have any name.
        const isWaiting = library
          .lessons()
          .some(({ state, text }) => state === 'proposed' && isSameSkill(skill, text));
        if (isWaiting) continue;
        const same = shown.filter(({ text }) => isSameSkill(skill, text));
        expect(same.map(({ text }) => text.name)).toEqual([folder]);
      }
      const there = new Set(folders);
      for (const { text } of shown) expect(there.has(text.name) || broken.size > 0).toBe(true);
      const all = everything(dir, library);
      for (const words of said) expect(all).toContain(words);
      const { generation } = library;
      await mirror.settle();
      expect(library.generation).toBe(generation);
      await mirror.close();
      rmSync(root, { recursive: true });
    }),
    runsOf(8, 20),
  );
});
