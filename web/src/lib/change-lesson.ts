import { announce } from '../parts/announcer.tsx';
import type { Lesson, LessonText } from './api-shapes.ts';
import { CallError, call } from './call.ts';
import { forgetResources } from './resource.ts';

export type LessonAct =
  | 'approve'
  | 'live'
  | 'reject'
  | 'retire'
  | 'restore'
  | 'pin'
  | 'unpin'
  | 'freeze'
  | 'unfreeze'
  | 'edit';

const DONE: Readonly<Record<LessonAct, string>> = {
  approve: 'Kept',
  live: 'Kept',
  reject: 'Dropped',
  retire: 'Dropped',
  restore: 'Brought back',
  pin: 'Pinned',
  unpin: 'Unpinned',
  freeze: 'Frozen',
  unfreeze: 'Unfrozen',
  edit: 'Saved',
};

export type Changed =
  | { readonly is: 'done'; readonly lesson: Lesson | undefined }
  /** What was shown is not what is there any more. Nothing was changed. */
  | { readonly is: 'conflict'; readonly current: Lesson | undefined }
  | { readonly is: 'refused' };

interface ChangeMore {
  readonly reason?: string | undefined;
  readonly text?: Partial<LessonText>;
}

/** A person's decision about the text that was shown: the hash goes with it. Says what came of it. */
export async function changeLesson(
  lesson: Pick<Lesson, 'id' | 'title' | 'hash'>,
  act: LessonAct,
  more: ChangeMore = {},
): Promise<Changed> {
  try {
    const body = { do: act, shown: lesson.hash, ...more };
    const answer = await call<{ readonly generation: number; readonly lesson?: Lesson }>(
      'POST',
      `/api/page/lessons/${encodeURIComponent(lesson.id)}`,
      { body },
    );
    forgetResources();
    announce(`${DONE[act]}: ${lesson.title}. Generation ${answer.generation}.`);
    return { is: 'done', lesson: answer.lesson };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.status === 409) {
      announce(`Nothing was changed: ${lesson.title} is no longer what you saw.`, 'bad');
      return { is: 'conflict', current: (error.body as { readonly current?: Lesson } | undefined)?.current };
    }
    announce(error.message, 'bad');
    return { is: 'refused' };
  }
}
