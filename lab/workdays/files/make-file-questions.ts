import { createRandom } from '../../../src/base/random.ts';
import { between, shuffled } from '../draw.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import type { DayWorld, Form, Split } from '../world.ts';
import { FOLDER_WORDS, folderAt } from './folders.ts';
import { CONVERT } from './kinds/convert.ts';
import { DECISION_LOG } from './kinds/decision-log.ts';
import { DEPLOY_RECORD } from './kinds/deploy-record.ts';
import { DUE_DATE } from './kinds/due-date.ts';
import { FIGURE_CHANGE } from './kinds/figure-change.ts';
import { HANDOVER } from './kinds/handover.ts';
import { INCIDENT_REPORT } from './kinds/incident-report.ts';
import { MEETING_SUMMARY } from './kinds/meeting-summary.ts';
import { TICKET_STATES } from './kinds/ticket-states.ts';
import { WEEKLY_FIGURES } from './kinds/weekly-figures.ts';
import { makeFileQuestion, type PlannedQuestion } from './make-file-question.ts';
import { two } from './plan.ts';
import type { Scene, TaskKind } from './scene.ts';
import { SHORT_KINDS } from './short/make-short-task.ts';

const FULL_KINDS: readonly TaskKind[] = [
  DECISION_LOG,
  TICKET_STATES,
  WEEKLY_FIGURES,
  HANDOVER,
  MEETING_SUMMARY,
  FIGURE_CHANGE,
  INCIDENT_REPORT,
  DEPLOY_RECORD,
  DUE_DATE,
  CONVERT,
];

export interface FileQuestionOptions {
  readonly day: DayWorld;
  readonly rules: RuleSet;
  readonly form: Form;
  readonly count: number;
  readonly seed: string;
  readonly split: Split;
}

export interface FileQuestions {
  readonly questions: readonly PlannedQuestion[];
  /** What the day's workspace begins with because of them. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Things to do in a day's workspace. Each has folders and files of its own and is judged by them alone, whatever was done
 * about the others; kinds take turns, so that all of them come up before one comes again.
 */
export function makeFileQuestions({
  day,
  rules,
  form,
  count,
  seed,
  split,
}: FileQuestionOptions): FileQuestions {
  const kinds = (form === 'full' ? FULL_KINDS : SHORT_KINDS).filter((kind) => kind.suits(day));
  const order = shuffled(createRandom(`${seed}/kinds`), kinds);
  const folders = shuffled(
    createRandom(`${seed}/folders`),
    Array.from({ length: Math.max(2 * count, FOLDER_WORDS.length) }, (_, index) =>
      form === 'full' ? `${day.id}/${folderAt(index)}` : folderAt(index),
    ),
  );
  const tasks = Array.from({ length: count }, (_, index) => {
    const random = createRandom(`${seed}/task/${index}`);
    const scene: Scene = {
      ...{ day, random, split },
      task: `t${two(day.index + 1)}${two(index + 1)}`,
      now: { ...day.today, hour: between(random, 10, 17), minute: random.below(60) },
      folders: [folders[2 * index] ?? '', folders[2 * index + 1] ?? ''],
    };
    const kind = order[index % order.length];
    if (kind === undefined) throw new RangeError(`${day.id} has nothing that a task could be made of`);
    return kind.make(scene);
  });
  const active = rules.rules.filter(({ since }) => since <= day.index);
  const questions = tasks.map((task) => makeFileQuestion(task, active, { split, seed }));
  const files = Object.fromEntries(
    tasks.flatMap(({ plan }) => [
      ...Object.entries(plan.given),
      ...plan.edits.map((edit) => [edit.path, edit.before] as const),
    ]),
  );
  return { questions, files };
}
