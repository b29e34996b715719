import type { Lesson } from '../../core/lesson.ts';
import type { MirrorFiles } from './mirror-files.ts';
import type { MirrorMemory } from './mirror-memory.ts';
import { type Records, recordOf } from './mirror-records.ts';
import { planWrites, type Write } from './plan-writes.ts';
import type { Seen } from './scan-skills.ts';

interface FollowParts {
  readonly memory: MirrorMemory;
  readonly files: MirrorFiles;
  readonly fault: (folder: string, why: string) => void;
  readonly isStopped: () => boolean;
}

/** Writes what was published. Whether anything was done; what the disk does not allow is a fault, and the rest goes on. */
export async function followLibrary(
  records: Records,
  seen: ReadonlyMap<string, Seen>,
  wanted: ReadonlyMap<string, Lesson>,
  parts: FollowParts,
): Promise<boolean> {
  let isDone = false;
  for (const write of planWrites(records, seen, wanted)) {
    if (parts.isStopped()) return isDone;
    try {
      isDone = (await perform(write, parts)) || isDone;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      parts.fault(write.folder, `cannot be written (${code ?? 'unknown error'}); it is tried again`);
    }
  }
  return isDone;
}

async function perform(write: Write, { memory, files, fault }: FollowParts): Promise<boolean> {
  const { folder } = write;
  switch (write.type) {
    case 'fault':
      fault(folder, write.why);
      return false;
    case 'move': {
      await files.move(folder, write.to);
      memory.move(folder, write.to);
      return true;
    }
    case 'remove':
      if (await files.remove(folder, write.over)) memory.forget(folder);
      return true;
    case 'write': {
      const hash = await files.write(folder, write.lesson, write.over);
      if (hash !== undefined) memory.put(folder, recordOf(write.lesson, hash));
      return true;
    }
  }
}
