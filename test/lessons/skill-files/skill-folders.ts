import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Change, Lesson, LessonText, PublishResult } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import type { NewFact, Store } from '../../../src/core/store.ts';
import { openLibrary } from '../../../src/lessons/library.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';

/** A folder that is deleted after the test. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'instar-skills-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Writes files, by their paths relative to a folder. */
export function plant(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

export interface Below {
  at(...parts: readonly string[]): string;
  read(path: string): string;
  /** Fails when the text does not occur. */
  change(path: string, from: string, to: string): void;
}

/** Files by their paths relative to a folder, a new one in each test. */
export function below(dir: () => string): Below {
  const at = (...parts: readonly string[]): string => join(dir(), ...parts);
  const read = (path: string): string => readFileSync(at(path), 'utf8');
  const change = (path: string, from: string, to: string): void => {
    const text = read(path);
    expect(text).toContain(from);
    writeFileSync(at(path), text.replace(from, to));
  };
  return { at, read, change };
}

export const skillText = (name: string, content = 'Do it.', description = `For ${name}.`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${content}\n`;

export function createCounter(): (prefix: string) => string {
  let count = 0;
  return (prefix) => `${prefix}_${(++count).toString().padStart(4, '0')}`;
}

/** The real library over a store in memory; `onAppend` may throw, or modify the fact as the writer does. */
export async function openMemoryLibrary(
  store: Store = createMemoryStore(),
  clock: Clock = systemClock,
  onAppend: (fact: NewFact) => NewFact = (fact) => fact,
): Promise<Library> {
  const { library } = await openLibrary({
    load: async (after, limit) => store.factsOf('library-changed', after, limit),
    append: async (fact) => {
      const [appended] = store.append({ facts: [onAppend(fact)] });
      if (appended === undefined) throw new Error('nothing was appended');
      return appended;
    },
    clock,
    newId: createCounter(),
    onFault: (error) => {
      throw error;
    },
  });
  return library;
}

let sets = 0;

export const publish = (library: Library, ...changes: readonly Change[]): Promise<PublishResult> =>
  library.publish({
    id: `by-test-${++sets}`,
    by: { kind: 'person', name: 'test' },
    reason: 'test',
    changes,
  });

export const textOf = (name: string, content = 'Do it.', more: Partial<LessonText> = {}): LessonText => ({
  name,
  description: `For ${name}.`,
  content,
  scope: {},
  note: {
    keywords: ['one', 'two'],
    tags: [],
    importance: 0.5,
    confidence: 0.5,
    source: 'experience',
    visibility: 'scoped',
    halfLifeDays: 30,
    links: [],
  },
  evidence: { turns: ['turn_1'], quotes: [], learner: 'evolver' },
  taint: ['tool'],
  ...more,
});

export const addSkill = (id: string, text: LessonText, state: 'trial' | 'live' = 'live'): Change => ({
  op: 'add',
  id,
  kind: 'skill',
  state,
  text,
});

export function lessonOf(library: Library, idOrName: string): Lesson {
  const lesson = library.find(idOrName);
  if (lesson === undefined) throw new Error(`no lesson ${idOrName}`);
  return lesson;
}
