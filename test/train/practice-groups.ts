import { systemClock } from '../../src/core/clock.ts';
import type { Attempt, AttemptGroup, MakeAttempt, PracticeTask } from '../../src/core/practice.ts';
import { ATTEMPT_PREFIX } from '../../src/core/principal.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import type { PracticeTraining } from '../../train/practice-training.ts';
import { findTrialShortage, type PromotionSettings, promote } from '../../train/promotion.ts';
import type { PromotionLog } from '../../train/promotion-log.ts';
import { startPromotion } from '../../train/promotion-stages.ts';
import { attemptsWith, scriptOf } from '../agent/attempts/orders.ts';

const signal = new AbortController().signal;

/** The digit after `#` is the prompt; a reply is its tokens. */
export const digitTemplate = (longestReply: number): PolicyTemplate => ({
  render: ({ messages }) => {
    const digit = Number(/#(\d+)/.exec(JSON.stringify(messages))?.[1] ?? 0);
    return { is: 'prompt', tokens: [digit, digit] };
  },
  write: () => [],
  read: (tokens) => ({ text: tokens.join(' '), calls: [] }),
  stop: [],
  longestReply,
});

/** A task whose right answer contains a number. */
export const digitTask = (id: string, shown: number, wanted: number): PracticeTask => ({
  id,
  root: id,
  origin: 'curated',
  prompt: `Task ${id}: what follows #${shown}?`,
  domain: 'digits',
  check: { kind: 'regex', pattern: `\\b${wanted}\\b` },
});

export const makeOf = (training: PracticeTraining): MakeAttempt =>
  attemptsWith(scriptOf(''), {
    agents: new Map([...training.agents].map(([name, open]) => [name, { kind: 'model', open }])),
    clock: systemClock,
  }).make;

/** A group of attempts by the newest weights, graded by the task's check. */
export async function groupOfAttempts(
  make: MakeAttempt,
  task: PracticeTask,
  name: string,
  { size = 8, generation = 0 }: { readonly size?: number; readonly generation?: number } = {},
): Promise<AttemptGroup> {
  const attempts: Attempt[] = [];
  for (let place = 0; place < size; place++)
    attempts.push(
      await make(
        {
          id: `${ATTEMPT_PREFIX}${name}/${task.id}/${place}`,
          task,
          shown: { text: '', lessons: [], generation },
          seed: `${name}/${task.id}/${place}`,
          temperature: 0.7,
          timeoutMs: 60_000,
        },
        signal,
      ),
    );
  return { id: `${name}/${task.id}`, task, generation, gradedBy: 'verifier', attempts };
}

/** Promotions of this process alone. */
export function memoryPromotions(settings: PromotionSettings): Omit<PromotionLog, 'pointer'> {
  let state = startPromotion({ version: 0, sampler: undefined });
  return {
    state: () => state,
    turnedBack: () => [],
    shortage: async (clusters) => findTrialShortage(state, clusters, { level: 1 }, settings),
    tell: async (event) => {
      const { state: next, facts } = promote(state, event, settings);
      state = next;
      return facts;
    },
  };
}
