import { LEARNING_SUBJECT, type StoredFact } from '../core/fact.ts';
import type { Records } from '../core/store.ts';

/** Whether Instar learns. Off: no lesson is written or changed by itself, and no model is asked; serving goes on. */
export interface LearningSwitch {
  readonly isOn: boolean;
  /** When the owner turned it on or off; undefined when nobody ever did. */
  readonly since?: number;
}

export const LEARNING_ON: LearningSwitch = { isOn: true };

/** Older facts than the last one change nothing. */
export function foldLearningSwitch(known: LearningSwitch, { at, fact }: StoredFact): LearningSwitch {
  if (fact.type !== 'learning-switched' || at < (known.since ?? 0)) return known;
  return { isOn: fact.on !== false, since: at };
}

export async function readLearningSwitch(records: Pick<Records, 'events'>): Promise<LearningSwitch> {
  let known = LEARNING_ON;
  for (const stored of await records.events(LEARNING_SUBJECT)) known = foldLearningSwitch(known, stored);
  return known;
}
