import type { Workspace } from '../../../src/agent/sandbox/workspace.ts';
import { createRandom } from '../../../src/base/random.ts';
import { type FileQuestion, REPLY_FILE, type Suite, type SuiteDay, type TaskVerdict } from '../suite.ts';
import { forSplit, shuffled } from '../workdays/draw.ts';
import type { Split } from '../workdays/world.ts';
import { DESK_FORMS, type DeskRule, deskRule, tellRule } from './desk-rules.ts';
import { DESK_FAMILIES, type DeskFamily, type DeskTask, drawDeskTask, fileIn } from './desk-tasks.ts';
import { writeDeskFile } from './write-desk-file.ts';

export const DESK_SYSTEM =
  'You write small files for a team: code, settings, notes, queries, commit messages. Answer with the file and nothing else.';

/** The limits of a reply: a small model's files are short. */
export const DESK_SAMPLING = { maxTokens: 256, temperature: 0.2 } as const;

const DAYS = 10;
const FAMILIES_A_DAY = 3;
const TASKS_EACH = 2;
/** The day on which the second rule of a family begins to count. */
const SECOND_SINCE = 2;
/** Of ten lines of feedback on a rule, one says only what it is about, and one states a wrong value. */
const VAGUE_SHARE = 0.1;
const WRONG_SHARE = 0.1;

const VAGUE = [
  'That is not how we do {about} here.',
  'Look at {about} again, this is not our way.',
  'Hm, {about} is not right.',
];

/** How a file does: which rules it breaks, and whether it does what was asked for. */
export function gradeDeskReply(reply: string, task: DeskTask, rules: readonly DeskRule[]): TaskVerdict {
  const file = fileIn(reply);
  const isDone = task.isDone(file);
  const broken = rules.filter(({ form, value }) => !form.isFollowed(file, value, task)).map(({ id }) => id);
  const kept = rules.length - broken.length;
  return {
    status: 'ok',
    passed: isDone && broken.length === 0,
    isDone,
    // A file that is not what was asked for is worth nothing, whatever rules it follows.
    score: isDone ? (1 + kept) / (1 + rules.length) : 0,
    broken,
    reasons: broken,
  };
}

/** What the user says about a file that breaks a rule: the rule, something vague or something wrong, by the rule and the place. */
function tellBroken(rule: DeskRule, split: Split, place: string): string {
  const random = createRandom(`desk/feedback/${rule.id}/${place}`);
  const draw = random.next();
  const nth = random.below(100);
  if (draw < VAGUE_SHARE) return (VAGUE[nth % VAGUE.length] ?? '').replace('{about}', rule.form.about);
  return tellRule(draw < VAGUE_SHARE + WRONG_SHARE ? rivalOf(rule, split) : rule, split, nth);
}

interface HouseRuleOfDesk extends DeskRule {
  readonly since: number;
}

/** The house of a seed: two rules for each family, one from the first day, one from the third. */
export function deskHouse(seed: number, split: Split): readonly HouseRuleOfDesk[] {
  const random = createRandom(`desk/${split}/${seed}/house`);
  return DESK_FAMILIES.flatMap((family) =>
    shuffled(
      random,
      DESK_FORMS.filter((form) => form.family === family),
    )
      .slice(0, 2)
      .map((form, at) => ({
        ...deskRule(form, split, random.below(100)),
        since: at === 0 ? 0 : SECOND_SINCE,
      })),
  );
}

interface DeskOptions {
  readonly seed: number;
  readonly split: Split;
  readonly days?: number;
  /** Whether a day is one conversation (the default), or each file has its own. */
  readonly conversation?: SuiteDay['conversation'];
}

/**
 * Ten days at a desk: each day six small files of three families. House rules are known only from what the
 * user says about a file, and one remark in five is vague or wrong.
 */
export function createDesk({ seed, split, days = DAYS, conversation = 'day' }: DeskOptions): Suite {
  const house = deskHouse(seed, split);
  const named = house.map((rule) => ({ ...rule, id: `s${seed}-${rule.id}` }));
  const makeDay = (day: number): SuiteDay => {
    const families = Array.from(
      { length: FAMILIES_A_DAY },
      (_, at) => DESK_FAMILIES[(day + at) % DESK_FAMILIES.length] ?? 'python',
    );
    const random = createRandom(`desk/${split}/${seed}/day ${day}`);
    const order = shuffled(
      random,
      families.flatMap((family) => Array.from({ length: TASKS_EACH }, (): DeskFamily => family)),
    );
    const questions = order.map((family, at): FileQuestion => {
      const task = drawDeskTask(family, split, random);
      const rules = named.filter(({ form, since }) => form.family === family && since <= day);
      const id = `d${day + 1}-${at + 1}`;
      return {
        kind: 'files',
        id,
        text: task.request,
        rules: rules.map((rule) => rule.id),
        check: async (workspace: Workspace) => gradeDeskReply(await workspace.read(REPLY_FILE), task, rules),
        reply: (obeyed) =>
          writeDeskFile(
            task,
            rules.filter((rule) => obeyed.has(rule.id)),
          ),
        feedback: ({ broken, isDone }) => {
          if (isDone !== true) return 'This is not the file that I asked for.';
          if (broken.length === 0) return 'Good, thanks.';
          return rules
            .filter((rule) => broken.includes(rule.id))
            .map((rule) => tellBroken(rule, split, `${split}/${seed}/${id}`))
            .join('\n');
        },
      };
    });
    return {
      id: `day${String(day + 1).padStart(2, '0')}`,
      about: families.join(', '),
      system: DESK_SYSTEM,
      files: { texts: {} },
      conversation,
      feedback: 'apart',
      shell: 'none',
      sampling: DESK_SAMPLING,
      questions,
    };
  };

  return {
    name: 'desk',
    rules: named.map(({ id, form, value, since }) => ({
      id,
      title: `${form.family}: ${form.about} (${form.id}): ${value}`,
      since,
      form: form.id,
      origin: form.family,
      isTaughtBy: (text) => teaches(text, { id, form, value }),
    })),
    days: Array.from({ length: days }, (_, day) => makeDay(day)),
  };
}

/** The same form with the split's next value. */
function rivalOf(rule: DeskRule, split: Split): DeskRule {
  const values = forSplit(rule.form.values, split);
  return { ...rule, value: values[(values.indexOf(rule.value) + 1) % values.length] ?? rule.value };
}

/** Whether a text has the sentence of one of the rule's wordings that names the value. */
const teaches = (text: string, { form, value }: DeskRule): boolean =>
  form.wordings.some((wording) =>
    wording
      .split(/(?<=[.?!]) /)
      .filter((sentence) => sentence.includes('{v}'))
      .some((sentence) => text.includes(sentence.replaceAll('{v}', value).replace(/[.]$/, ''))),
  );
