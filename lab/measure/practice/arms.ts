import type { Lesson } from '../../../src/core/lesson.ts';
import type { AttemptLessons, LessonsForTask } from '../../../src/core/practice.ts';
import { queryOf } from '../../../src/learn/trial/measure-trial.ts';
import { renderBlock } from '../../../src/lessons/render-block.ts';
import type { PromptNotes } from '../../suites/prompt-notes.ts';
import type { CuratedWork } from '../../suites/workdays/curated-tasks.ts';
import { AT_ONCE, TIMEOUT_MS } from './night.ts';
import { isOpenVote, pluralityState } from './plurality-state.ts';
import type { WorkAttempt, WorkAttempts } from './work-attempts.ts';

export const PRACTICE_ARMS = [
  'baseline',
  'semantic',
  'weights',
  'both',
  'tips',
  'notes',
  'same tokens',
  'proven',
] as const;
export type PracticeArm = (typeof PRACTICE_ARMS)[number];

/** One task under one arm. */
export interface ArmRow {
  readonly seed: number;
  readonly arm: PracticeArm;
  readonly task: string;
  /** Whether it was done and every rule kept. */
  readonly isComplete: boolean;
  readonly isDone: boolean;
  readonly rules: readonly string[];
  /** Of a task that was done. */
  readonly kept: readonly string[];
  /** Lessons in the prompt. */
  readonly shown: number;
  readonly attempts: number;
  /** Attempts that its tokens would have allowed. */
  readonly allowed: number;
  readonly tokens: number;
  readonly ms: number;
}

/** What an arm gives. */
export interface ArmGift {
  /** `base`: the weights that ship; `newest`: those of the night. */
  readonly agent: 'base' | 'newest';
  /** What stands in the prompt. */
  readonly shown: (work: CuratedWork) => Promise<AttemptLessons>;
  /** The tokens that may be spent on each task; one attempt without them. */
  readonly tokens?: number;
}

interface GiftParts {
  readonly lessonsFor: LessonsForTask;
  readonly lessons: readonly Lesson[];
  readonly notes: PromptNotes;
  /** What practice cost, for each task of the report. */
  readonly tokens: number;
}

/** More attempts at one task are not made, whatever the tokens would allow. */
export const MOST_VOTES = 16;

const NOTHING: AttemptLessons = { text: '', lessons: [], generation: 0 };

/** The arms that can be measured right after the night; `proven` comes after the trials. */
export function giftsOf({
  lessonsFor,
  lessons,
  notes,
  tokens,
}: GiftParts): ReadonlyMap<PracticeArm, ArmGift> {
  const nothing = async (): Promise<AttemptLessons> => NOTHING;
  const recalled = ({ task }: CuratedWork): Promise<AttemptLessons> => lessonsFor(queryOf(task));
  const tips = { text: renderBlock(lessons), lessons: lessons.map(({ id }) => id), generation: 0 };
  return new Map<PracticeArm, ArmGift>([
    ['baseline', { agent: 'base', shown: nothing }],
    ['semantic', { agent: 'base', shown: recalled }],
    ['weights', { agent: 'newest', shown: nothing }],
    ['both', { agent: 'newest', shown: recalled }],
    ['tips', { agent: 'base', shown: async () => tips }],
    ['notes', { agent: 'base', shown: async () => ({ ...NOTHING, text: notes.section() }) }],
    ['same tokens', { agent: 'base', shown: nothing, tokens }],
  ]);
}

/** Recall among the lessons that trials found helpful. */
export const provenGift = (
  lessonsFor: LessonsForTask,
  lessons: readonly Lesson[],
  isHelpful: (id: string) => boolean,
): ArmGift => {
  const without = lessons.map(({ id }) => id).filter((id) => !isHelpful(id));
  return { agent: 'base', shown: ({ task }) => lessonsFor(queryOf(task), { without }) };
};

interface MeasureArm {
  readonly seed: number;
  readonly arm: PracticeArm;
  readonly gift: ArmGift;
  readonly work: readonly CuratedWork[];
  readonly attempts: WorkAttempts;
  readonly signal: AbortSignal;
}

/** Every task once under an arm. The seeds of its attempts are the same under all arms. */
export async function measureArm(options: MeasureArm): Promise<readonly ArmRow[]> {
  const rows: ArmRow[] = [];
  const left = [...options.work];
  const worker = async (): Promise<void> => {
    for (let work = left.shift(); work !== undefined; work = left.shift())
      rows.push(await measureTask(options, work));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return rows.sort((a, b) => (a.task < b.task ? -1 : 1));
}

async function measureTask(
  { seed, arm, gift, attempts, signal }: MeasureArm,
  work: CuratedWork,
): Promise<ArmRow> {
  const { task, question } = work;
  const since = performance.now();
  const shown = await gift.shown(work);
  const made: WorkAttempt[] = [];
  let allowed = 1;
  const left = (): number => Math.min(allowed, MOST_VOTES) - made.length;
  while (made.length === 0 || isOpenVote(made, left())) {
    const order = {
      id: `report/${seed}/${arm}/${task.id}/${made.length}`,
      seed: `report/${seed}/${task.id}/${made.length}`,
      agent: gift.agent,
      ...{ task, shown, temperature: 1, timeoutMs: TIMEOUT_MS },
    };
    const one = await attempts.make(order, signal);
    signal.throwIfAborted();
    made.push(one);
    if (made.length === 1 && gift.tokens !== undefined)
      allowed = Math.max(1, Math.floor(gift.tokens / Math.max(1, one.attempt.used.tokens)));
  }
  const chosen = pluralityState(made)?.verdict;
  const isDone = chosen?.isDone === true;
  return {
    ...{ seed, arm, task: task.id, rules: question.rules, isDone },
    isComplete: chosen?.passed === true,
    kept: isDone ? question.rules.filter((rule) => !chosen.broken.includes(rule)) : [],
    shown: shown.lessons.length,
    attempts: made.length,
    allowed,
    tokens: made.reduce((sum, { attempt }) => sum + attempt.used.tokens, 0),
    ms: performance.now() - since,
  };
}
