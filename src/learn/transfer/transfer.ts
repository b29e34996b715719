import type { Clock } from '../../core/clock.ts';
import type { ChangeSet } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { PracticeTask } from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import { readTrials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { TRANSFER_LEARNER, transferId, transferredLesson } from '../../lessons/transfer.ts';
import { decidedLearner } from '../cycle.ts';
import { type Autonomy, autonomyRule } from '../gate/autonomy-rule.ts';
import type { LearnerRow, LearningPieces } from '../runner.ts';
import { type FoundTransfer, findTransfers } from './find-transfers.ts';

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
