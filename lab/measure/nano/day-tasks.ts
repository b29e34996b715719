import type { Random } from '../../../src/base/random.ts';
import { between, pick, some } from '../../suites/workdays/draw.ts';
import { createDraft } from '../../suites/workdays/files/draft.ts';
import { PLAIN_STYLE, styled, text, twoDigits } from '../../suites/workdays/files/plan.ts';
import { folderAt, type Task } from '../../suites/workdays/files/scene.ts';
import { SHORT_TASK_KINDS } from '../../suites/workdays/files/short-tasks.ts';
import type { DayFacts } from '../../suites/workdays/world.ts';
import { stepsFor, type TaskSteps } from './auxiliary/task-steps.ts';
import { newWord } from './placeholders.ts';

const TASKS_PER_DAY = 24;
const INVENTED_FIELDS = 4;

/** A task of a day, with its steps when no rule is obeyed. */
export interface DayTask extends Task {
  readonly invented?: readonly string[];
  readonly base: TaskSteps;
}

/** Tasks of a day, some with fields that the suite does not have. */
export function makeDayTasks(facts: DayFacts, random: Random): readonly DayTask[] {
  const invented = Array.from({ length: INVENTED_FIELDS }, () => newWord(random));
  return Array.from({ length: TASKS_PER_DAY }, (_, at) =>
    withInvented(makeTask(facts, at, random), invented, random),
  );
}

function makeTask({ day }: DayFacts, at: number, random: Random): DayTask {
  const task = pick(random, SHORT_TASK_KINDS).make({
    ...{ day, random, split: 'train' },
    task: `t${twoDigits(1 + random.below(40))}${twoDigits(at + 1)}`,
    now: { ...day.today, hour: between(random, 8, 18), minute: random.below(60) },
    folders: drawFolders(random),
  });
  return { ...task, base: stepsFor(createDraft(task.plan)) };
}

/** Two different folders, some with a number, some with a name of their own. */
function drawFolders(random: Random): readonly [string, string] {
  const [first = '', second = ''] = some(random, FOLDERS, 2);
  return [random.next() < 0.25 ? newWord(random) : first, random.next() < 0.25 ? newWord(random) : second];
}
const FOLDERS: readonly string[] = Array.from({ length: 60 }, (_, at) => folderAt(at));

/** A new document of some tasks has fields that no task of the suite has: rules on them can only be read. */
function withInvented(task: DayTask, invented: readonly string[], random: Random): DayTask {
  const [document, ...more] = task.plan.creates;
  if (document === undefined || !task.text.endsWith('.') || random.next() >= 0.45) return task;
  const added = some(random, invented, 1 + random.below(2)).map(
    // No bare number: a rule on counts would be meant for it as well.
    (key) =>
      [key, text(newWord(random) + (random.next() < 0.8 ? '' : String(10 + random.below(90))))] as const,
  );
  const said = added.map(([key, value]) => `, ${key} ${String(styled(value, PLAIN_STYLE))}`).join('');
  const plan = { ...task.plan, creates: [{ ...document, fields: [...document.fields, ...added] }, ...more] };
  return {
    ...task,
    ...{ plan, invented, base: stepsFor(createDraft(plan)) },
    text: `${task.text.slice(0, -1)}${said}.`,
  };
}

/** The names and texts of invented fields. */
export const inventedWords = ({ plan, invented = [] }: DayTask): readonly string[] =>
  plan.creates
    .flatMap(({ fields }) => fields.filter(([key]) => invented.includes(key)))
    .flatMap(([key, value]) => [key, ...(value.is === 'text' ? [value.text] : [])]);
