import { runAgent } from '../../src/agent/agent.ts';
import { createRandom, type Random } from '../../src/base/random.ts';
import { asArray, asObject, asString } from '../../src/core/json.ts';
import type { Lesson, LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { TaskAttempt, TrainingTask } from '../../src/core/task-source.ts';
import { writeLesson } from '../../src/learn/distiller/write-lesson.ts';
import { placeLessons } from '../../src/lessons/render-said.ts';
import { createLiveSkill } from '../measure/recall/synthetic.ts';
import { DESK_SAMPLING, DESK_SYSTEM, gradeDeskReply } from '../suites/desk/desk.ts';
import { DESK_FORMS, type DeskForm, type DeskRule, deskRule, tellRule } from '../suites/desk/desk-rules.ts';
import type { DeskFamily, DeskTask, FileFamily } from '../suites/desk/desk-tasks.ts';
import { WIDE_FORMS } from '../suites/desk/wide-forms.ts';
import { drawFileTask } from '../suites/desk/wide-tasks.ts';
import { distractorChanges } from '../suites/distractors.ts';
import type { TaskVerdict } from '../suites/suite.ts';
import { pick, shuffled, some } from '../suites/workdays/draw.ts';
import type { Split } from '../suites/workdays/world.ts';

/** Three families are trained, two never. Of the trained ones one form each is held out. */
export const TRAINED_FAMILIES: readonly DeskFamily[] = ['python', 'yaml', 'note'];
const HELD_OUT_FORMS: ReadonlySet<string> = new Set(['owner-comment', 'port-mark', 'point-mark']);

const isTrainedFamily = ({ family }: DeskForm): boolean => TRAINED_FAMILIES.includes(family);

/** Which forms and values the rules of a set of tasks have. */
export type DeskSet = 'trained' | 'wide' | 'unseen-values' | 'unseen-forms' | 'unseen-families';

const TRAINED_FORMS = DESK_FORMS.filter((form) => isTrainedFamily(form) && !HELD_OUT_FORMS.has(form.id));
const FORMS: Readonly<Record<DeskSet, readonly DeskForm<FileFamily>[]>> = {
  trained: TRAINED_FORMS,
  wide: [...TRAINED_FORMS, ...WIDE_FORMS],
  'unseen-values': TRAINED_FORMS,
  'unseen-forms': DESK_FORMS.filter((form) => isTrainedFamily(form) && HELD_OUT_FORMS.has(form.id)),
  'unseen-families': DESK_FORMS.filter((form) => !isTrainedFamily(form)),
};

/** A task with the rules that the user has for its family, and the lessons that Instar would show. */
export interface TaughtTask extends TrainingTask {
  readonly rules: readonly DeskRule<FileFamily>[];
  readonly shown: PlacedLessons;
}

export const RULES_EACH = 2;
/** As many lessons as the product shows by default with their text, and by a line. */
const BODIES = 6;
const LINES = 24;
/** With recall as it is, one prompt in five has a lesson for another kind of file. */
const ONE_STRAY_IN = 5;
/** As many families as a house of the narrow set has, so that the prompts are as long. */
const WIDE_HOUSE = 3;

/** How people introduce a rule that they have stated before. What stands around it is no part of the rule. */
const MOODS = [
  'Again: {said}',
  'For the last time: {said}',
  'I keep saying this: {said}',
  'Hm, no. {said}',
  'I may not have told you. {said}',
  'It is a small thing, but it matters here: {said}',
  'This is not what I wanted. {said}',
  'By the way: {said}',
];

/**
 * Tasks of users who each have up to two rules for a family. Their lessons are what Instar's quoting learner writes. In the system
 * prompt lessons of other domains stand beside them, so that it has the length that it has in use; in the user's message the lessons
 * of the task's family stand, and now and then one of another family, as recall selects them.
 */
export function makeTaughtTasks(
  set: DeskSet,
  count: number,
  seed: number,
  place: LessonPlace,
): readonly TaughtTask[] {
  const split: Split = set === 'trained' || set === 'wide' ? 'train' : 'report';
  const forms = FORMS[set];
  const families = [...new Set(forms.map(({ family }) => family))];
  const distractors = deskDistractors();
  return Array.from({ length: count }, (_, at) => {
    const random = createRandom(`real-model/${set}/${seed}/${at}`);
    const family = families[at % families.length] ?? 'python';
    const others = families.filter((one) => one !== family);
    const inHouse = set === 'wide' ? [family, ...some(random, others, WIDE_HOUSE - 1)] : families;
    const house = inHouse.flatMap((one) =>
      some(
        random,
        forms.filter((form) => form.family === one),
        RULES_EACH,
      ).map((form) => drawRule(form, split, random)),
    );
    const rules = house.filter(({ form }) => form.family === family);
    const task = drawFileTask(family, split, random);
    const taught = [...rules, ...house.filter((rule) => !rules.includes(rule))]
      .slice(0, BODIES)
      .map((rule, nth) => deskLesson(rule, split, nth, random, set === 'wide'));
    const shown = showLessons({ taught, own: rules.length, others: distractors, place, random });
    return {
      id: `desk/${set}/${seed}/${at}`,
      recall: { task: task.request },
      rules,
      shown,
      open: async () => openDeskAttempt(task, rules),
    };
  });
}

interface LessonsOfTask {
  /** The lessons of the house, those of the task's family first. */
  readonly taught: readonly Lesson[];
  /** How many are of the task's family. */
  readonly own: number;
  readonly others: readonly Lesson[];
  readonly place: LessonPlace;
  readonly random: Random;
}

export function showLessons({ taught, own, others, place, random }: LessonsOfTask): PlacedLessons {
  const index = some(random, others, LINES + BODIES - taught.length);
  const bodies = [...taught, ...index.slice(LINES)];
  const near = taught.slice(0, own + (random.below(ONE_STRAY_IN) === 0 ? 1 : 0));
  return place === 'message'
    ? placeLessons(place, near, [])
    : placeLessons(place, shuffled(random, bodies), index.slice(0, LINES));
}

/** A wide form is never reported, so that training may have all its values. */
function drawRule(form: DeskForm<FileFamily>, split: Split, random: Random): DeskRule<FileFamily> {
  if (WIDE_FORMS.includes(form)) return { id: form.id, form, value: pick(random, form.values) };
  return deskRule(form, split, random.below(100));
}

/** What the quoting learner writes when the user has stated this rule. `isVaried`: in any of the ways that training has. */
export function deskLesson(
  rule: DeskRule<FileFamily>,
  split: Split,
  nth: number,
  random: Random,
  isVaried = false,
): Lesson {
  const said = isVaried ? sayRule(rule, random) : tellRule(rule, split, random.below(100));
  const asked = drawFileTask(rule.form.family, split, random).request;
  const text = writeLesson({ speaker: 'user', count: 1 + random.below(3), quotes: [said], tasks: [asked] });
  return createLiveSkill({ id: `${pick(random, ['a', 'k', 't'])}-${nth}`, ...text });
}

/** What a user says about a rule in wide training: in all wordings of a wide form, and half of the time with a mood around it. */
function sayRule(rule: DeskRule<FileFamily>, random: Random): string {
  const { form, value } = rule;
  const said = WIDE_FORMS.includes(form)
    ? pick(random, form.wordings).replaceAll('{v}', () => value)
    : tellRule(rule, 'train', random.below(100));
  return random.below(2) === 0 ? said : pick(random, MOODS).replace('{said}', () => said);
}

export const deskDistractors = (): readonly Lesson[] =>
  distractorChanges(200).map((change, at) => {
    const { name, description, content, note } = asObject(asObject(change).text);
    return createLiveSkill({
      id: `other-${at}`,
      name: asString(name) ?? '',
      description: asString(description) ?? '',
      content: asString(content) ?? '',
      triggers: asArray(asObject(note).triggers).map(String),
    });
  });

/** One reply; the user's checks grade it: the share of them that it meets. */
export const openDeskAttempt = (
  task: DeskTask<FileFamily>,
  rules: readonly DeskRule<FileFamily>[],
  onGraded: (verdict: TaskVerdict) => void = () => undefined,
): TaskAttempt => ({
  run: async ({ speak, session }, signal) => {
    const run = await runAgent({
      speak,
      speaker: { session, agent: 'practice', runKind: 'train' },
      model: 'policy',
      system: DESK_SYSTEM,
      history: [],
      prompt: task.request,
      shell: undefined,
      limits: { maxTokens: DESK_SAMPLING.maxTokens },
      signal,
    });
    if (run.failure !== undefined) return { ok: false, why: run.failure.message };
    if (signal.aborted) return { ok: false, why: 'the attempt was stopped' };
    const verdict = gradeDeskReply(run.answer, task, rules);
    onGraded(verdict);
    const { passed, isDone, score = 0 } = verdict;
    return { ok: true, reward: score, isComplete: passed, isDone: isDone === true };
  },
  close: async () => undefined,
});
