import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lintSkill } from '../../../src/api/lint-skill.ts';
import { asArray, isObject } from '../../../src/core/json.ts';
import type { Lesson, Scope } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import { decodeChange, encodeLesson } from '../../../src/lessons/codec.ts';
import type { ImportFormat } from '../../../src/lessons/import/foreign-note.ts';
import { importNotes, openImport } from '../../../src/lessons/import/import-notes.ts';
import type { SkillReport } from '../../../src/lessons/skill-files/import-export.ts';
import { publish, scratch } from '../skill-files/skill-folders.ts';

const NOW = Date.parse('2026-11-17T12:00:00Z');

interface ImportInto {
  readonly name: string;
  readonly text: string | Buffer;
  readonly format?: ImportFormat | 'auto';
  readonly state?: 'proposed' | 'trial' | 'live';
  readonly scope?: Scope;
}

/** Lessons in the order of the lines that they came from. */
const byLine = (lesson: Lesson): number =>
  Number(/line (\d+)/.exec(lesson.text.note.context ?? '')?.[1] ?? 0);

/** Writes a file and imports it into a real library, with the gate's lint and the redactor. */
export async function importInto(
  library: Library,
  { name, text, format = 'auto', state = 'live', scope = {} }: ImportInto,
): Promise<SkillReport> {
  const path = join(scratch(), name);
  writeFileSync(path, text);
  const opened = await openImport(path, format);
  if (!opened.ok) throw new Error(opened.why);
  const { source } = opened;
  if (source.format === 'skills') throw new Error('skills');
  const lessonsApi = {
    all: async () => library.lessons().map(encodeLesson),
    change: async ({ changes }: { readonly changes?: unknown }) => {
      const decoded = asArray(changes).filter(isObject).map(decodeChange);
      const { generation, results } = await publish(library, ...decoded.filter((change) => 'op' in change));
      return { generation, results: results.map((result) => ({ ...result })) };
    },
  };
  return importNotes(
    lessonsApi,
    { ...source, format: source.format },
    { state, scope, lint: lintSkill, now: NOW },
  );
}

export const contents = (library: Library): readonly string[] =>
  [...library.lessons()].sort((one, other) => byLine(one) - byLine(other)).map(({ text }) => text.content);

export const lessonSaying = (library: Library, words: string): Lesson => {
  const found = library.lessons().find(({ text }) => text.content.includes(words));
  if (found === undefined) throw new Error(`no lesson says ${words}`);
  return found;
};

/** The lines of a report's faults, without the folder. */
export const faultsOf = ({ faults }: SkillReport): readonly string[] =>
  faults.map(({ file, why }) => `${file.replace(/^.*:/, '')}: ${why}`);
