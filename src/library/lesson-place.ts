import type { LessonState, LessonText } from '../core/lesson.ts';

/** Whether a lesson of this state is waiting or in use, so that its name is taken. */
export const isActive = (state: LessonState): boolean => state !== 'retired' && state !== 'rejected';

/** The key that is unique among active lessons: name and scope. Neither contains a line break, and no pattern is empty. */
export const placeOf = ({ name, scope }: LessonText): string =>
  `${name}\n${scope.agent ?? ''}\n${scope.project ?? ''}\n${scope.runKind ?? ''}\n${scope.domain ?? ''}`;
