import { existsSync, rmSync } from 'node:fs';
import { createIds } from '../base/ids.ts';
import type { Home } from '../config/home.ts';
import { systemClock } from '../core/clock.ts';
import type { JobQueue } from '../core/jobs.ts';
import type { Records } from '../core/store.ts';
import { forgetPrompts } from '../learn/compress/prompt-files.ts';

interface ErasedFiles {
  readonly promptsDir: string;
  /** Brings everything that is made from lessons up to date with the record: the library, the skills folder, vectors. */
  readonly followLibrary: (session: string) => Promise<void>;
  /** Jobs may have words of the session. */
  readonly jobs?: Pick<JobQueue, 'forgetSession'>;
}

/** The same records; an erasure also reaches the files that are made from the record. */
export const withErasedFiles = (
  records: Records,
  { promptsDir, followLibrary, jobs }: ErasedFiles,
): Records => ({
  ...records,
  erase: async (session, reason) => {
    const agent = (await records.session(session))?.agent;
    const erasure = await records.erase(session, reason);
    await jobs?.forgetSession(session);
    if (agent !== undefined) await forgetPrompts(promptsDir, agent);
    await followLibrary(session);
    // A prompt may have been recorded while the library still had the text.
    if (erasure.lessons.retired.length + erasure.lessons.cleaned.length > 0)
      await records.erase(session, reason);
    return erasure;
  },
});

/** For commands without a daemon: the next daemon would do the same when it starts. */
export function followLibraryOnce(home: Home, records: Records): () => Promise<void> {
  return async () => {
    const { openLessons } = await import('../lessons/open-lessons.ts');
    const { writeSkillFiles } = await import('../lessons/skill-files/skill-mirror.ts');
    const { library } = await openLessons({
      records,
      clock: systemClock,
      newId: createIds(systemClock),
      onFault: (error) => {
        throw error;
      },
    });
    if (existsSync(home.skillsDir)) await writeSkillFiles(home.skillsDir, library, systemClock);
    // Both are made from lessons, and made again.
    for (const file of [home.vectorFile, home.indexFile]) rmSync(file, { force: true });
  };
}
