import { join } from 'node:path';
import { beforeEach } from 'vitest';
import type { Library } from '../../../src/core/library.ts';
import { type OpenMirror, openMirror } from './open-mirror.ts';
import {
  addSkill,
  type Below,
  below,
  lessonOf,
  openMemoryLibrary,
  publish,
  scratch,
  textOf,
} from './skill-folders.ts';

export interface TwoSkills extends Below {
  readonly library: Library;
  readonly dir: string;
  readonly mirror: OpenMirror;
  revise(id: string, content: string): Promise<void>;
  /** Stops the mirror, runs the changes, and starts another one. */
  whileClosed(work: () => unknown): Promise<void>;
  /** Replaces the library by an empty one. */
  loseLessons(): Promise<void>;
}

/** Sets up a library with the skills `one` (id `a`) and `two` (id `b`), and a mirror of it, for each test of a file. */
export function eachWithTwoSkills(): TwoSkills {
  let library: Library;
  let dir: string;
  let mirror: OpenMirror;
  beforeEach(async () => {
    library = await openMemoryLibrary();
    dir = join(scratch(), 'skills');
    await publish(library, addSkill('a', textOf('one')), addSkill('b', textOf('two')));
    mirror = await openMirror(dir, library);
  });
  return {
    ...below(() => dir),
    get library() {
      return library;
    },
    get dir() {
      return dir;
    },
    get mirror() {
      return mirror;
    },
    revise: async (id, content) => {
      const { text, revision } = lessonOf(library, id);
      await publish(library, { op: 'revise', id, from: revision, text: { ...text, content } });
    },
    whileClosed: async (work) => {
      await mirror.close();
      await work();
      mirror = await openMirror(dir, library);
    },
    loseLessons: async () => {
      library = await openMemoryLibrary();
    },
  };
}
