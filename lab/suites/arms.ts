import type { LessonPlace } from '../../src/core/lesson.ts';

/** The name of an arm: what `--condition` takes and what every row of a journal carries. */
export type Condition =
  | 'baseline'
  | 'notes'
  | 'all-lessons'
  | 'skills'
  | 'skills-message'
  | 'skills-evolver'
  | 'full'
  | 'full-oracle';

/**
 * An arm of an experiment: what the policy is given, and what it is denied. All arms ask the same questions in the same
 * order, in one conversation a day that keeps the user's feedback.
 */
export interface Arm {
  readonly name: Condition;
  /** As headlines call it. */
  readonly label: string;
  readonly gives: string;
  readonly withholds: string;
  /** `off`: no prompt has one. `all`: every lesson is in the prompt, whatever the task. */
  readonly lessons: 'off' | 'recalled' | 'all';
  /** Where recalled lessons stand in a prompt (`library.place`). */
  readonly place: LessonPlace;
  /** `policy`: the model that answers also writes lessons from failures; `quotes`: lessons are the user's own words. */
  readonly writer: 'quotes' | 'policy';
  /** Whether the feedback of earlier days is in the system prompt. */
  readonly hasNotes: boolean;
  /** What weights are trained on at night. `served`: the tasks given so far, with the user's own checks. `oracle`: the suite's checks on generated tasks. */
  readonly training: 'none' | 'served' | 'oracle';
  /** The arms that it is compared with. */
  readonly against: readonly Condition[];
}

const PLAIN: Pick<Arm, 'place' | 'writer' | 'hasNotes' | 'training'> = {
  place: 'system',
  writer: 'quotes',
  hasNotes: false,
  training: 'none',
};

/** In the order of runs and reports. */
export const ARMS: readonly Arm[] = [
  {
    ...PLAIN,
    name: 'baseline',
    label: 'baseline',
    gives: "the day's conversation with the user's feedback on every earlier answer of the day",
    withholds: 'lessons, and everything said on earlier days',
    lessons: 'off',
    against: [],
  },
  {
    ...PLAIN,
    name: 'notes',
    label: 'notes',
    gives:
      'the conversation, and the raw feedback of all earlier days in the system prompt (## Notes, newest last)',
    withholds: 'lessons; notes beyond 6,000 characters, oldest first',
    lessons: 'off',
    hasNotes: true,
    against: ['baseline'],
  },
  {
    ...PLAIN,
    name: 'all-lessons',
    label: 'all lessons',
    gives: 'the conversation, and every lesson of the library in every prompt',
    withholds: 'recall: nothing selects the lessons that fit the task',
    lessons: 'all',
    against: ['baseline', 'notes'],
  },
  {
    ...PLAIN,
    name: 'skills',
    label: 'skills',
    gives: 'the conversation, and the lessons that recall selects for the task',
    withholds: 'trained weights',
    lessons: 'recalled',
    against: ['baseline', 'notes', 'all-lessons'],
  },
  {
    ...PLAIN,
    name: 'skills-message',
    label: "skills, in the user's message",
    gives: "as skills, but in the user's words at the end of the user's message (library.place: message)",
    withholds: 'headings, and the lines of lessons that fit less',
    lessons: 'recalled',
    place: 'message',
    against: ['baseline', 'skills'],
  },
  {
    ...PLAIN,
    name: 'skills-evolver',
    label: 'skills, written by the model',
    gives: "as skills in the user's message, and the model that answers writes lessons from three failures",
    withholds: 'headings, and the lines of lessons that fit less',
    lessons: 'recalled',
    place: 'message',
    writer: 'policy',
    against: ['baseline', 'skills-message'],
  },
  {
    ...PLAIN,
    name: 'full',
    label: 'full (deployable rewards)',
    gives:
      "as skills, and weights trained after each day on the tasks that the user gave so far, graded by the user's own checks (as tests or a linter would); one recorded task in two measures new weights",
    withholds: 'generated tasks, and checks of tasks that nobody gave yet',
    lessons: 'recalled',
    training: 'served',
    against: ['baseline', 'skills'],
  },
  {
    ...PLAIN,
    name: 'full-oracle',
    label: 'full (oracle rewards)',
    gives:
      "as skills, and weights trained after each day with oracle rewards: the suite's hidden checks on generated tasks. No deployment has these",
    withholds: 'nothing that a deployment would have',
    lessons: 'recalled',
    training: 'oracle',
    against: ['baseline', 'skills', 'full'],
  },
];

export const CONDITIONS: readonly Condition[] = ARMS.map(({ name }) => name);

export function armOf(condition: Condition): Arm {
  const found = ARMS.find(({ name }) => name === condition);
  if (found === undefined) throw new RangeError(`no arm is named ${condition}`);
  return found;
}

/** As headlines call it; a name that no arm has stays as it is. */
export const armLabel = (condition: string): string =>
  ARMS.find(({ name }) => name === condition)?.label ?? condition;

/** `full` trained on oracle rewards until arms had a version: journals from then have no `arms` in their head. */
export const ARMS_VERSION = 2;
export const currentName = (condition: Condition): Condition =>
  condition === 'full' ? 'full-oracle' : condition;
