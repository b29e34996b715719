import type { Clock } from '../../core/clock.ts';
import type { Author, ChangeResult, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { LintWords } from './gate-file.ts';
import type { MirrorFiles } from './mirror-files.ts';
import { type MirrorMemory, mirrorRecordOf } from './mirror-records.ts';
import { type EditScene, type FolderEdit, planEdits } from './plan-edits.ts';
import type { FolderContent } from './scan-skills.ts';
import { isSameSkill } from './skill-file.ts';

/** The dependencies of a mirror. */
export interface MirrorParts {
  readonly dir: string;
  readonly library: Library;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /** Looks through the words of new and edited files. */
  readonly lint: LintWords;
  readonly log?: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

interface FollowParts extends MirrorParts {
  readonly memory: MirrorMemory;
  readonly files: MirrorFiles;
}

interface FolderScene extends Pick<EditScene, 'records' | 'isQuiet' | 'isLost'> {
  /** Updated when a file is set aside. */
  readonly seen: Map<string, FolderContent>;
  readonly wanted: ReadonlyMap<string, Lesson>;
  readonly fault: (folder: string, why: string) => void;
}

type PublishEdit = Extract<FolderEdit, { type: 'publish' }>;

/**
 * Publishes the edits that people made in the folder. Returns whether anything was published. Rejects as `Library.publish`
 * does; edits that were published before that are recorded.
 */
export function createApplyEdits(parts: FollowParts): (scene: FolderScene) => Promise<boolean> {
  const { library, clock, newId, memory, files, lint, log } = parts;
  /** Edits that the library refused: not published again until the file or the lesson changes. */
  const refused = new Map<string, { readonly key: string; readonly why: string }>();

  /** Returns whether another pass is due. */
  const setAside = async (
    edit: Extract<FolderEdit, { type: 'conflict' }>,
    scene: FolderScene,
  ): Promise<boolean> => {
    const { folder, hash, id } = edit;
    try {
      if (!(await files.setAside(folder, hash))) return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      scene.fault(folder, `is older than the library and cannot be set aside (${code ?? 'unknown error'})`);
      return false;
    }
    log?.warn(
      { folder, lesson: id },
      'an edited skill was based on an older revision; the edit is kept in SKILL.md.yours',
    );
    memory.forget(folder);
    scene.seen.set(folder, { kind: 'none' });
    return true;
  };
  const keyOf = ({ id, file, changes }: PublishEdit): string => {
    const names = changes.map((change) => ('text' in change ? change.text.name : change.op));
    return [file?.hash, library.lesson(id)?.revision, ...names].join(' ');
  };
  const remember = ({ folder, id, file, leaves }: PublishEdit): void => {
    refused.delete(folder);
    log?.info({ folder, lesson: id }, 'a skill was edited in the skills folder');
    if (leaves !== undefined) memory.forget(leaves);
    const lesson = library.lesson(id);
    if (file === undefined || lesson === undefined) {
      memory.forget(folder);
      return;
    }
    const { origin } = file.skill;
    const isExact = isSameSkill(file.skill, lesson.text) && (origin === undefined || origin.id === id);
    const record = mirrorRecordOf(lesson, file.hash);
    memory.put(folder, isExact ? record : { ...record, revision: 0 });
  };

  return async (scene) => {
    const { records, seen, isQuiet, isLost, fault } = scene;
    const folderOf = new Map([...scene.wanted].map(([folder, { id }]) => [id, folder]));
    const toPublish: PublishEdit[] = [];
    let isDone = false;
    const until = clock.monotonic() + AT_ONCE_MS;
    const hasTime = (): boolean => clock.monotonic() < until;
    for (const edit of planEdits({
      records,
      seen,
      isQuiet,
      isLost,
      library,
      folderOf,
      newId,
      lint,
      hasTime,
    })) {
      const { folder } = edit;
      switch (edit.type) {
        case 'fault':
          fault(folder, edit.why);
          break;
        case 'forget':
          memory.forget(folder);
          if (edit.why !== undefined) fault(folder, edit.why);
          break;
        case 'in-step':
          if (edit.leaves !== undefined) memory.forget(edit.leaves);
          memory.put(folder, edit.record);
          break;
        case 'later':
          isDone = true;
          break;
        case 'conflict':
          isDone = (await setAside(edit, scene)) || isDone;
          break;
        case 'publish': {
          const before = refused.get(folder);
          if (before?.key === keyOf(edit)) fault(folder, before.why);
          else toPublish.push(edit);
        }
      }
    }
    await publishEdits(toPublish, { library, newId }, (edit, why) => {
      isDone = true;
      if (why === undefined) {
        remember(edit);
      } else {
        refused.set(edit.folder, { key: keyOf(edit), why });
        fault(edit.folder, why);
      }
    });
    return isDone;
  };
}

const BY: Author = { kind: 'file', name: 'skills folder' };
const SET_SIZE = 200;
/** For looking through files in one pass. */
const AT_ONCE_MS = 50;

interface PublishParts {
  readonly library: Pick<Library, 'publish'>;
  readonly newId: (prefix: string) => string;
}

/** Publishes edits, many in one set; `onResult` gets the reason of a refusal. Rejects as `Library.publish` does. */
async function publishEdits(
  edits: readonly PublishEdit[],
  { library, newId }: PublishParts,
  onResult: (edit: PublishEdit, refused: string | undefined) => void,
): Promise<void> {
  for (let start = 0; start < edits.length; start += SET_SIZE) {
    const some = edits.slice(start, start + SET_SIZE);
    const changes = some.flatMap((edit) => edit.changes);
    const reason = 'edited in the skills folder';
    const { results } = await library.publish({ id: newId('set'), by: BY, reason, changes });
    let at = 0;
    for (const edit of some) {
      const own: readonly ChangeResult[] = results.slice(at, at + edit.changes.length);
      at += edit.changes.length;
      onResult(edit, own.flatMap((result) => (result.status === 'refused' ? result.why : []))[0]);
    }
  }
}
