import type { Lesson } from '../../core/lesson.ts';
import type { Edit } from './judge-edit.ts';
import type { MirrorFiles } from './mirror-files.ts';
import type { MirrorMemory } from './mirror-memory.ts';
import type { MirrorParts } from './mirror-parts.ts';
import { recordOf } from './mirror-records.ts';
import { type EditScene, planEdits } from './plan-edits.ts';
import { publishEdits } from './publish-edits.ts';
import type { Seen } from './scan-skills.ts';
import { isSameSkill } from './skill-text.ts';

interface FollowParts extends MirrorParts {
  readonly memory: MirrorMemory;
  readonly files: MirrorFiles;
}

interface FolderScene extends Pick<EditScene, 'records' | 'isQuiet' | 'isLost'> {
  /** Updated when a file is set aside. */
  readonly seen: Map<string, Seen>;
  readonly wanted: ReadonlyMap<string, Lesson>;
  readonly fault: (folder: string, why: string) => void;
}

type PublishEdit = Extract<Edit, { type: 'publish' }>;

/**
 * Publishes the edits that people made in the folder. Returns whether anything was published. Rejects as `Library.publish`
 * does; edits that were published before that are recorded.
 */
export function createFollowPeople(parts: FollowParts): (scene: FolderScene) => Promise<boolean> {
  const { library, newId, memory, files, log } = parts;
  /** Edits that the library refused: not published again until the file or the lesson changes. */
  const refused = new Map<string, { readonly key: string; readonly why: string }>();

  /** Returns whether another pass is due. */
  const setAside = async (
    edit: Extract<Edit, { type: 'conflict' }>,
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
    const record = recordOf(lesson, file.hash);
    memory.put(folder, isExact ? record : { ...record, revision: 0 });
  };

  return async (scene) => {
    const { records, seen, isQuiet, isLost, fault } = scene;
    const folderOf = new Map([...scene.wanted].map(([folder, { id }]) => [id, folder]));
    const toPublish: PublishEdit[] = [];
    let isDone = false;
    for (const edit of planEdits({ records, seen, isQuiet, isLost, library, folderOf, newId })) {
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
