import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { FileFault } from './draft-import.ts';
import {
  type NativeSkills,
  readNativeSkills,
  type SyncedSkills,
  syncNativeSkills,
  writeNativeSkills,
} from './native-skills.ts';
import type { SkillMirror } from './skill-mirror.ts';

interface NativeFollowerOptions {
  /** `HOME/native`, and `HOME/connect` with a record for each client whose requests go through the gateway. */
  readonly nativeDir: string;
  readonly connectDir: string;
  readonly library: Pick<Library, 'lessons' | 'onChange'>;
  /** Called once for each new fault. */
  readonly onFault: (fault: FileFault) => void;
}

const SOON_MS = 50;

export const nativeDirs = (home: { readonly dir: string }) => ({
  nativeDir: join(home.dir, 'native'),
  connectDir: join(home.dir, 'connect'),
});

/**
 * Brings the skills of one client up to date. A client whose requests go through the gateway has no files: the gateway shows it the
 * lessons, and nobody is told twice.
 */
export async function bringUpToDate(
  skills: NativeSkills,
  lessons: readonly Lesson[],
  { nativeDir, connectDir }: Pick<NativeFollowerOptions, 'nativeDir' | 'connectDir'>,
): Promise<SyncedSkills> {
  const isRouted = existsSync(join(connectDir, `${skills.client}.json`));
  const synced = await syncNativeSkills(skills, isRouted ? [] : lessons);
  if (JSON.stringify(synced.skills) !== JSON.stringify(skills))
    await writeNativeSkills(nativeDir, synced.skills);
  return synced;
}

/** Keeps the skills that clients have as their own files up to date while the library changes. Never throws or rejects. */
export function createNativeFollower(options: NativeFollowerOptions): SkillMirror {
  const { nativeDir, library, onFault } = options;
  let faults: readonly FileFault[] = [];
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isRunning = false;

  const pass = async (): Promise<void> => {
    if (isClosed) return;
    isRunning = true;
    const found: FileFault[] = [];
    try {
      for (const skills of await readNativeSkills(nativeDir))
        found.push(...(await bringUpToDate(skills, library.lessons(), options)).faults);
    } catch (error) {
      found.push({
        file: nativeDir,
        why: `cannot be written (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
      });
    }
    isRunning = false;
    const known = new Set(faults.map(({ file, why }) => `${file}\n${why}`));
    faults = found;
    for (const fault of found) if (!known.has(`${fault.file}\n${fault.why}`)) onFault(fault);
  };
  const look = (): Promise<void> => {
    last = last.then(pass);
    return last;
  };
  const stopListening = library.onChange(() => {
    if (isClosed || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void look();
    }, SOON_MS);
    timer.unref();
  });
  void look();
  return {
    faults: () => faults,
    isBusy: () => isRunning || timer !== undefined,
    settle: look,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      stopListening();
      await last;
    },
  };
}
