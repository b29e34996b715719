import type { Budget, Spending } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fact } from '../../core/fact.ts';
import type { Ask } from '../../core/learn.ts';
import type { Lesson, LessonText } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type {
  Attempt,
  AttemptGroup,
  LessonsForTask,
  MakeAttempt,
  PracticeJournal,
  PracticeKind,
  PracticeTask,
  TrainedGroups,
} from '../../core/practice.ts';
import type { PracticeCounts, PracticeEnd } from '../../core/practice-fact.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { CycleEnd } from '../cycle.ts';
import type { Gate } from '../gate/gate.ts';
import type { RewardWeighing } from '../identity/weigh-rewards.ts';
import type { PracticeUnits } from './practice-units.ts';

/** The numbers of a run. */
export interface PracticeSettings {
  /** Attempts at each task. */
  readonly groupSize: number;
  /** Of attempts; 1 where an engine trains on them. */
  readonly temperature: number;
  /** Of the learner's questions and comparisons. */
  readonly judgeTemperature: number;
  /** The limit of one attempt. */
  readonly timeoutMs: number;
  /** Tasks whose changes are reconciled and published together. */
  readonly batch: number;
  readonly epochs: number;
  /** Attempts and questions at the same time. */
  readonly concurrency: number;
  /** How often an attempt that failed for reasons of our own is made again. */
  readonly refills: number;
  /** A group teaches when its rewards differ by more than this. */
  readonly tolerance: number;
  /** Experiences of one domain that are in use at the same time. */
  readonly mostPerDomain: number;
  readonly halfLifeDays: number;
  /** All chance of the run comes from it. */
  readonly seed: string;
}

export const PRACTICE_DEFAULTS: PracticeSettings = {
  groupSize: 3,
  temperature: 0.7,
  judgeTemperature: 0.3,
  timeoutMs: 300_000,
  batch: 20,
  epochs: 1,
  concurrency: 4,
  refills: 1,
  tolerance: 0.05,
  mostPerDomain: 30,
  halfLifeDays: 60,
  seed: 'practice',
};

/** Everything that a run of practice needs. It writes through `journal`, `record`, `trainOn` and `library.publish` alone. */
export interface PracticeInput {
  /** A run with the same id continues where it was. */
  readonly run: string;
  readonly kind: PracticeKind;
  /** Of the split `learn`. */
  readonly tasks: readonly PracticeTask[];
  /** Recorded attempts at similar tasks: they are learned from with the first batch, without new attempts. */
  readonly recorded?: readonly AttemptGroup[];
  readonly settings?: Partial<PracticeSettings>;
  /** Who attempts (`provider/model`, a policy's version, a program), and which model the learner asks: a part of the cache's keys. */
  readonly agent: string;
  readonly learner?: string;
  /** Makes and grades attempts, within `budget`. */
  readonly attempt: MakeAttempt;
  readonly lessonsFor: LessonsForTask;
  /** Undefined without a model for learning: then attempts are made and graded, and nothing is concluded. */
  readonly ask: Ask | undefined;
  readonly library: Library;
  readonly gate: Gate;
  readonly journal: PracticeJournal;
  /** Of this run, with what it spent before it was interrupted. The run's model calls and attempts reserve from it. */
  readonly budget: Pick<Budget, 'refusal'>;
  /** Appends a fact of the run once, however often it is called with the same key. */
  readonly record: (fact: Fact, key: string) => Promise<void>;
  readonly checkText: (text: unknown) => string | undefined;
  /** The similarity of a text to each of some lessons, and of texts to each other. May reject: then words are compared. */
  readonly similar?: SimilarTexts;
  /** With an engine that trains: durable there when it resolves. The same group may come again after a crash. */
  readonly trainOn?: TrainOnGroups;
  /** The lines of an agent's core; absent: there are none. */
  readonly coreOf?: (agent: string | undefined) => readonly string[];
  /** What rewards are made of; absent: of the task's own. */
  readonly weighing?: RewardWeighing | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What every part of a run works with. */
export interface RunContext {
  readonly input: PracticeInput;
  /** With all defaults. */
  readonly settings: PracticeSettings;
  readonly units: PracticeUnits;
}

/** Groups for the weights. They come before the changes of the same batch are published: a new generation makes them stale. */
export type TrainOnGroups = (groups: readonly AttemptGroup[]) => Promise<TrainedGroups | undefined>;

export interface SimilarTexts {
  toLessons(
    text: LessonText,
    among: readonly Lesson[],
  ): Promise<readonly { readonly id: string; readonly cosine: number }[]>;
  /** Unit vectors. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

/** What a run reports while it works. */
export type PracticeEvent =
  | { readonly type: 'batch-begun'; readonly step: number; readonly steps: number; readonly tasks: number }
  | {
      readonly type: 'attempt-made';
      readonly id: string;
      readonly task: string;
      readonly is: 'graded' | 'ungraded' | 'infrastructure';
      readonly reward?: number;
      readonly why?: string;
      /** It was in the journal or in the cache. */
      readonly isKnown: boolean;
    }
  | {
      readonly type: 'groups-kept';
      readonly step: number;
      readonly kept: number;
      readonly of: number;
      /** Why each of the others has nothing to compare, for people. */
      readonly alike: readonly string[];
    }
  | { readonly type: 'group-lost'; readonly group: string; readonly why: string }
  | { readonly type: 'experience-found'; readonly group: string; readonly insight: string }
  | { readonly type: 'operation-quarantined'; readonly group: string; readonly why: string }
  | {
      readonly type: 'groups-trained';
      readonly step: number;
      readonly groups: number;
      /** What the trainer said about them. */
      readonly trained?: TrainedGroups;
    }
  | { readonly type: 'batch-ended'; readonly step: number; readonly cycle: CycleEnd };

export interface PracticeResult {
  readonly run: string;
  readonly end: PracticeEnd;
  /** Why it ended early. */
  readonly note?: string;
  /** How long to wait before it is continued, where a provider said so. */
  readonly retryAfterMs?: number;
  readonly counts: PracticeCounts;
  /** Of all parts of the run; what was read from the cache cost nothing. */
  readonly spent: Spending;
  /** The mean reward of the attempts, by who graded them; `compared` says nothing about what is right. */
  readonly rewards: Readonly<Partial<Record<AttemptGroup['gradedBy'], number>>>;
  /** Some attempts had no ground truth: they were compared with each other by a model. */
  readonly isSelfEvaluated: boolean;
  readonly cycles: readonly CycleEnd[];
}

/** A run ends before its work is done. What was journaled stays, and it can be continued. */
export class RunStop extends Error {
  override readonly name = 'RunStop';
  readonly end: Exclude<PracticeEnd, 'done'>;
  readonly retryAfterMs: number | undefined;

  constructor(end: Exclude<PracticeEnd, 'done'>, why = '', retryAfterMs?: number) {
    super(why);
    this.end = end;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The rewards of the graded attempts, in their order. */
export const rewardsOf = (attempts: readonly Attempt[]): readonly number[] =>
  attempts.flatMap(({ outcome }) => (outcome.is === 'graded' ? [outcome.reward] : []));

export const meanOf = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/**
 * Whether a group has both better and worse attempts: the range of its rewards counts, not their mean. Three attempts with half the
 * reward each have nothing to tell each other, although their mean is neither 0 nor 1.
 */
export function hasSpread({ attempts }: Pick<AttemptGroup, 'attempts'>, tolerance: number): boolean {
  const rewards = rewardsOf(attempts);
  return rewards.length >= 2 && Math.max(...rewards) - Math.min(...rewards) > tolerance;
}

const LONGEST_PROMPT_SHOWN = 60;

/** Why a group has no better and worse attempts, with what graded the last of them. */
export function whyAlike({ task, attempts }: AttemptGroup): string {
  const rewards = attempts.flatMap(({ outcome }) => (outcome.is === 'graded' ? [outcome.reward] : []));
  const about = truncateEnd(oneLine(task.prompt), LONGEST_PROMPT_SHOWN);
  if (rewards.length < 2)
    return `"${about}": ${rewards.length} of its attempts could be graded, two are needed`;
  const last = attempts.at(-1)?.outcome;
  const reason = last?.is === 'graded' ? (last.reasons[0] ?? '') : '';
  const best = Math.max(...rewards);
  const said =
    best <= 0
      ? 'all failed'
      : Math.min(...rewards) >= 1
        ? 'all succeeded'
        : `all scored about ${best.toFixed(2)}`;
  return `"${about}": ${said}${reason === '' ? '' : ` (${truncateEnd(oneLine(reason), 160)})`}`;
}
