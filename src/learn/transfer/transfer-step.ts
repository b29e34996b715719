import type { Clock } from '../../core/clock.ts';
import { NO_COST } from '../../core/learn.ts';
import type { Library } from '../../core/library.ts';
import type { PracticeTask } from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import { readTrials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { TRANSFER_LEARNER, transferId, transferredLesson } from '../../lessons/transfer.ts';
import { type Autonomy, autonomyRule } from '../gate/autonomy-rule.ts';
import { type FoundTransfer, findTransfers } from './find-transfers.ts';

interface TransferStepOptions {
  readonly library: Library;
  readonly effects: LessonEffects;
  readonly records: Pick<Records, 'events' | 'append'>;
  readonly tasks: () => Promise<readonly PracticeTask[]>;
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  readonly autonomy: Autonomy;
  readonly checkText: (text: unknown) => string | undefined;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

export interface TransferStep {
  /** What would be transferred. */
  plan(): Promise<readonly FoundTransfer[]>;
  /** Publishes it, as far as the autonomy allows; how many lessons went on trial and how many wait. */
  run(signal: AbortSignal): Promise<{ readonly trial: number; readonly proposed: number }>;
}

/** Lessons of one run: each is measured before there are more. */
const MOST_AT_ONCE = 3;

/**
 * Proposes lessons that were measured to help one agent to agents with tasks of the same kind. The words were judged by the gate
 * when they were learned and do not change; the autonomy decides, and no transferred lesson begins without a trial.
 */
export function createTransferStep(options: TransferStepOptions): TransferStep {
  const { library, effects, records, clock, newId } = options;
  const plan = async (): Promise<readonly FoundTransfer[]> =>
    findTransfers({
      lessons: library.lessons(),
      trials: await readTrials(records),
      effects,
      tasks: await options.tasks(),
      embed: options.embed,
    });
  return {
    plan,
    run: async (signal) => {
      const startedAt = clock.monotonic();
      const counts = { trial: 0, proposed: 0 };
      for (const { lesson, to, effect } of (await plan()).slice(0, MOST_AT_ONCE)) {
        if (signal.aborted) break;
        const ruling = autonomyRule(options.autonomy, lesson.kind, lesson.text.content);
        const outcome = ruling.outcome === 'proposed' ? 'proposed' : 'trial';
        const change = transferredLesson(lesson, to, effect, outcome);
        if (options.checkText(change.text) !== undefined) continue;
        const set = `transfer-${transferId(lesson.id, to)}`;
        const reason = `it helped ${lesson.text.scope.agent}: ${effect}`;
        const { results, generation } = await library.publish({
          id: set,
          by: { kind: 'learner', name: TRANSFER_LEARNER },
          reason,
          changes: [change],
        });
        const isDone = results[0]?.status === 'applied';
        if (isDone) counts[outcome]++;
        const why = results[0]?.status === 'refused' ? [results[0].why] : ruling.why;
        await records.append([
          {
            at: Math.round(clock.now()),
            fact: {
              type: 'cycle-end',
              cycle: newId('cycle'),
              learner: TRANSFER_LEARNER,
              outcome: isDone ? (outcome === 'trial' ? 'published' : 'queued') : 'refused',
              items: [],
              turns: [],
              judgements: [
                { lesson: change.id, name: change.text.name, outcome: isDone ? outcome : 'refused', why },
              ],
              ...(isDone ? { set } : {}),
              generation,
              cost: NO_COST,
              tookMs: Math.round(clock.monotonic() - startedAt),
            },
          },
        ]);
      }
      return counts;
    },
  };
}
