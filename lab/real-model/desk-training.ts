import { runAgent } from '../../src/agent/agent.ts';
import { createRandom, type Random } from '../../src/base/random.ts';
import { asArray, asObject, asString } from '../../src/core/json.ts';
import type { Lesson, LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { TaskAttempt, TrainingTask } from '../../src/core/task-source.ts';
import { writeLesson } from '../../src/learn/distiller/write-lesson.ts';
import { placeLessons } from '../../src/lessons/render-block.ts';
import { createLiveSkill } from '../measure/recall/synthetic.ts';
import { DESK_SAMPLING, DESK_SYSTEM, gradeDeskReply } from '../suites/desk/desk.ts';
import { DESK_FORMS, type DeskForm, type DeskRule, deskRule, tellRule } from '../suites/desk/desk-rules.ts';
import { type DeskFamily, type DeskTask, drawDeskTask } from '../suites/desk/desk-tasks.ts';
import { distractorChanges } from '../suites/distractors.ts';
import { pick, shuffled, some } from '../suites/workdays/draw.ts';
import type { Split } from '../suites/workdays/world.ts';

/** Three families are trained, two never. Of the trained ones one form each is held out. */
const TRAINED_FAMILIES: readonly DeskFamily[] = ['python', 'yaml', 'note'];
const HELD_OUT_FORMS: ReadonlySet<string> = new Set(['owner-comment', 'port-mark', 'point-mark']);

const isTrainedFamily = ({ family }: DeskForm): boolean => TRAINED_FAMILIES.includes(family);

/** Which forms and values the rules of a set of tasks have. */
export type DeskSet = 'trained' | 'unseen-values' | 'unseen-forms' | 'unseen-families';

const TRAINED_FORMS = DESK_FORMS.filter((form) => isTrainedFamily(form) && !HELD_OUT_FORMS.has(form.id));
const FORMS: Readonly<Record<DeskSet, readonly DeskForm[]>> = {
  trained: TRAINED_FORMS,
  'unseen-values': TRAINED_FORMS,
  'unseen-forms': DESK_FORMS.filter((form) => isTrainedFamily(form) && HELD_OUT_FORMS.has(form.id)),
  'unseen-families': DESK_FORMS.filter((form) => !isTrainedFamily(form)),
};

/** A task with the rules that the user has for its family, and the lessons that Instar would show. */
export interface TaughtTask extends TrainingTask {
  readonly rules: readonly DeskRule[];
  readonly shown: PlacedLessons;
}

const RULES_EACH = 2;
/** As many lessons as the product shows by default with their text, and by a line. */
const BODIES = 6;
const LINES = 24;
/** With recall as it is, one prompt in five has a lesson for another kind of file. */
const ONE_STRAY_IN = 5;

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
  const split: Split = set === 'trained' ? 'train' : 'report';
  const forms = FORMS[set];
  const families = [...new Set(forms.map(({ family }) => family))];
  const distractors = deskDistractors();
  return Array.from({ length: count }, (_, at) => {
    const random = createRandom(`real-model/${set}/${seed}/${at}`);
    const family = families[at % families.length] ?? 'python';
    const house = families.flatMap((one) =>
      some(
        random,
        forms.filter((form) => form.family === one),
        RULES_EACH,
      ).map((form) => deskRule(form, split, random.below(100))),
    );
    const rules = house.filter(({ form }) => form.family === family);
    const task = drawDeskTask(family, split, random);
    const taught = [...rules, ...house.filter((rule) => !rules.includes(rule))]
      .slice(0, BODIES)
      .map((rule, nth) => deskLesson(rule, split, nth, random));
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

function showLessons({ taught, own, others, place, random }: LessonsOfTask): PlacedLessons {
  const index = some(random, others, LINES + BODIES - taught.length);
  const bodies = [...taught, ...index.slice(LINES)];
  const near = taught.slice(0, own + (random.below(ONE_STRAY_IN) === 0 ? 1 : 0));
  return place === 'message'
    ? placeLessons(place, near, [])
    : placeLessons(place, shuffled(random, bodies), index.slice(0, LINES));
}

/** What the quoting learner writes when the user has stated this rule. */
function deskLesson(rule: DeskRule, split: Split, nth: number, random: Random): Lesson {
  const said = tellRule(rule, split, random.below(100));
  const asked = drawDeskTask(rule.form.family, split, random).request;
  const text = writeLesson({ speaker: 'user', count: 1 + random.below(3), quotes: [said], tasks: [asked] });
  return createLiveSkill({ id: `${pick(random, ['a', 'k', 't'])}-${nth}`, ...text });
}

const deskDistractors = (): readonly Lesson[] =>
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
const openDeskAttempt = (task: DeskTask, rules: readonly DeskRule[]): TaskAttempt => ({
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
    const { passed, isDone, score = 0 } = gradeDeskReply(run.answer, task, rules);
    return { ok: true, reward: score, isComplete: passed, isDone: isDone === true };
  },
  close: async () => undefined,
});
