import type { Clock } from '../../core/clock.ts';
import type { ChangeSet, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { PracticeTask } from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import { readTrials, type Trials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { comparedText, cosineSimilarity, TASK_LIKENESS } from '../../lessons/similar/compare.ts';
import {
  provenEffect,
  TRANSFER_LEARNER,
  transferId,
  transferredLesson,
  whyNotTransferred,
} from '../../lessons/transfer.ts';
import { decidedLearner } from '../cycle.ts';
import { type Autonomy, autonomyRule } from '../gate/autonomy-rule.ts';
import type { LearnerRow, LearningPieces } from '../runner.ts';

interface TransferOptions {
  readonly library: Library;
  readonly effects: LessonEffects;
  readonly records: Pick<Records, 'events'>;
  readonly tasks: () => Promise<readonly PracticeTask[]>;
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  readonly autonomy: Autonomy;
  readonly checkText: (text: unknown) => string | undefined;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

export interface Transfers {
  /** What would be transferred. */
  plan(): Promise<readonly FoundTransfer[]>;
  /** Proposes it, as far as the autonomy allows. */
  readonly row: LearnerRow;
}

/** Lessons of one run: each is measured before there are more. */
const MOST_AT_ONCE = 3;

/**
 * Proposes lessons that were measured to help one agent to agents with tasks of the same kind. The words were judged by the gate
 * when they were learned and do not change; the autonomy decides, and no transferred lesson begins without a trial.
 */
export function createTransfers(options: TransferOptions): Transfers {
  const { library, effects, records, clock, newId } = options;
  const plan = async (): Promise<readonly FoundTransfer[]> =>
    findTransfers({
      lessons: library.lessons(),
      trials: await readTrials(records),
      effects,
      tasks: await options.tasks(),
      embed: options.embed,
    });
  async function* transfer(): LearningPieces {
    for (const { lesson, to, effect } of (await plan()).slice(0, MOST_AT_ONCE)) {
      const ruling = autonomyRule(options.autonomy, lesson.kind, lesson.text.content);
      const change = transferredLesson(
        lesson,
        to,
        effect,
        ruling.outcome === 'proposed' ? 'proposed' : 'trial',
      );
      if (options.checkText(change.text) !== undefined) continue;
      const set: ChangeSet = {
        id: `transfer-${transferId(lesson.id, to)}`,
        by: { kind: 'learner', name: TRANSFER_LEARNER },
        reason: `it helped ${lesson.text.scope.agent}: ${effect}`,
        changes: [change],
      };
      yield {
        id: newId('cycle'),
        material: { set, why: ruling.why },
        cases: [],
        items: [],
        facts: (end) => [{ at: Math.round(clock.now()), fact: end }],
      };
    }
  }
  return {
    plan,
    row: {
      name: TRANSFER_LEARNER,
      due: () => true,
      learn: decidedLearner(TRANSFER_LEARNER),
      material: transfer,
    },
  };
}

interface TransferSource {
  readonly lessons: readonly Lesson[];
  readonly trials: Pick<Trials, 'of'>;
  readonly effects: Pick<LessonEffects, 'sessionsOf' | 'verdict'>;
  /** Known tasks of all agents, in the users' words. */
  readonly tasks: readonly Pick<PracticeTask, 'prompt' | 'root' | 'agent' | 'project'>[];
  /** Unit vectors. */
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
}

/** A lesson that helped one agent, and another agent whose tasks resemble those that it helped with. */
export interface FoundTransfer {
  readonly lesson: Lesson;
  readonly from: string;
  readonly to: string;
  readonly effect: string;
  /** Tasks of the other agent that resemble them, of so many. */
  readonly tasks: number;
  readonly of: number;
}

const FEWEST_TASKS = 2;
/** The tasks of the lesson's own agent that are nearest to it stand for what it helps with. */
const MODEL_TASKS = 5;
const MOST_TASKS = 200;
const MOST_LESSONS = 200;

/** The transfers that would make sense now, the most alike first. Nothing is changed. */
async function findTransfers(source: TransferSource): Promise<readonly FoundTransfer[]> {
  const { lessons, trials, effects, tasks, embed } = source;
  const known = new Set(lessons.map(({ id }) => id));
  const proven = lessons
    .filter((lesson) => whyNotTransferred(lesson) === undefined)
    .flatMap((lesson) => {
      const effect = provenEffect(lesson, trials, effects);
      return effect === undefined ? [] : [{ lesson, effect }];
    })
    .slice(0, MOST_LESSONS);
  const agents = [...new Set(tasks.flatMap(({ agent }) => agent ?? []))].sort();
  if (proven.length === 0 || agents.length === 0) return [];
  const recent = tasks.filter(({ agent }) => agent !== undefined).slice(-MOST_TASKS);
  const taskVectors = await embed(recent.map(({ prompt }) => prompt));
  const lessonVectors = await embed(proven.map(({ lesson }) => comparedText(lesson)));
  const placed = recent.flatMap((task, at) => {
    const vector = taskVectors[at];
    return vector === undefined ? [] : [{ task, vector }];
  });
  const found = proven.flatMap(({ lesson, effect }, at): FoundTransfer[] => {
    const own = lessonVectors[at];
    const from = lesson.text.scope.agent ?? '';
    if (own === undefined) return [];
    const models = placed
      .filter(({ task }) => task.agent === from)
      .map(({ vector }) => ({ vector, near: cosineSimilarity(vector, own) }))
      .sort((a, b) => b.near - a.near)
      .slice(0, MODEL_TASKS)
      .filter(({ near }) => near >= TASK_LIKENESS.sameKind / 2)
      .map(({ vector }) => vector);
    const helped = [own, ...models];
    return agents
      .filter((to) => to !== from && !known.has(transferId(lesson.id, to)))
      .flatMap((to): FoundTransfer[] => {
        const { project } = lesson.text.scope;
        const theirs = placed.filter(
          ({ task }) => task.agent === to && (project === undefined || task.project === project),
        );
        const alike = theirs.filter(({ vector }) =>
          helped.some((one) => cosineSimilarity(one, vector) >= TASK_LIKENESS.sameKind),
        );
        const roots = new Set(alike.map(({ task }) => task.root)).size;
        return roots < FEWEST_TASKS ? [] : [{ lesson, from, to, effect, tasks: roots, of: theirs.length }];
      });
  });
  return found.sort((a, b) => b.tasks / b.of - a.tasks / a.of || (a.lesson.id < b.lesson.id ? -1 : 1));
}
