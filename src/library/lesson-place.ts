import type { LessonState, LessonText } from '../core/lesson.ts';

/** Whether a lesson of this state waits or is in use, and so takes its name's place. */
export const isActive = (state: LessonState): boolean => state !== 'retired' && state !== 'rejected';

/** What no two active lessons share: a name and a scope. Neither holds a line break, and no pattern is empty. */
export const placeOf = ({ name, scope }: LessonText): string =>
  `${name}\n${scope.agent ?? ''}\n${scope.project ?? ''}\n${scope.runKind ?? ''}\n${scope.domain ?? ''}`;
