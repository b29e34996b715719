import type { Lesson } from '../../core/lesson.ts';
import type { MirrorFiles } from './mirror-files.ts';
import type { MirrorMemory } from './mirror-memory.ts';
import { type FileRecord, type Records, recordOf } from './mirror-records.ts';
import { planWrites, type Write } from './plan-writes.ts';
import { hashOf, type Seen } from './scan-skills.ts';

interface FollowParts {
  readonly memory: MirrorMemory;
  readonly files: MirrorFiles;
  readonly fault: (folder: string, why: string) => void;
  readonly isStopped: () => boolean;
}

/**
 * Writes published skills to the folder. Returns whether anything was written. A failed write is reported as a fault and the
 * others continue. Rejects, without writing, when the records of the planned writes cannot be saved.
 */
export async function followLibrary(
  records: Records,
  seen: ReadonlyMap<string, Seen>,
  wanted: ReadonlyMap<string, Lesson>,
  parts: FollowParts,
): Promise<boolean> {
  const writes = planWrites(records, seen, wanted);
  const drafts = await renderAll(writes, parts.files);
  await parts.memory.plan(new Map([...drafts].map(([folder, { record }]) => [folder, record])));
  let isDone = false;
  for (const write of writes) {
    if (parts.isStopped()) return isDone;
    try {
      isDone = (await perform(write, drafts, parts)) || isDone;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      parts.fault(write.folder, `cannot be written (${code ?? 'unknown error'}); it will be tried again`);
    }
  }
  return isDone;
}

interface Draft {
  readonly text: string;
  readonly record: FileRecord;
}

async function renderAll(writes: readonly Write[], files: MirrorFiles): Promise<ReadonlyMap<string, Draft>> {
  const drafts = new Map<string, Draft>();
  for (const write of writes) {
    if (write.type !== 'write') continue;
    const text = await files.render(write.folder, write.lesson, write.over);
    drafts.set(write.folder, { text, record: recordOf(write.lesson, hashOf(text)) });
  }
  return drafts;
}

async function perform(
  write: Write,
  drafts: ReadonlyMap<string, Draft>,
  { memory, files, fault }: FollowParts,
): Promise<boolean> {
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
      const draft = drafts.get(folder);
      if (draft !== undefined && (await files.write(folder, draft.text, write.over))) {
        memory.put(folder, draft.record);
      }
      return true;
    }
  }
}
