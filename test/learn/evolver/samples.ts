import type { FailureCase, Learner, LearnerFailure, LearnInput, Proposal } from '../../../src/core/learn.ts';
import type { Change } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openOn, setOf } from '../../lessons/library/samples.ts';

export const failure = (
  over: Partial<Omit<FailureCase, 'appraisal'>> & {
    readonly appraisal?: Partial<FailureCase['appraisal']>;
  } = {},
): FailureCase => ({
  turn: 't1',
  session: 's1',
  at: 1_000,
  generation: 0,
  scope: {},
  task: 'Create the quarterly table in out/q3.csv',
  passages: [
    { origin: 'user', text: 'Create the quarterly table in out/q3.csv' },
    { origin: 'assistant', text: 'Done, the table is there.' },
    { origin: 'person', text: 'The amounts must be in cents.' },
  ],
  source: 'person',
  ...over,
  appraisal: {
    turn: over.turn ?? 't1',
    verdict: 'failure',
    reward: 0.1,
    source: 'person',
    signals: [],
    digests: [],
    ...over.appraisal,
  },
});

/** A real library with these changes. */
export async function libraryWith(...changes: readonly Change[]): Promise<Library> {
  const { library } = await openOn(createMemoryStore());
  if (changes.length > 0) await library.publish(setOf('c1', changes));
  return library;
}

export interface Learned {
  readonly proposals: readonly Proposal[];
  readonly stuck: readonly LearnerFailure[];
  readonly journal: readonly string[];
}

export async function learnFrom(
  learner: Learner<readonly FailureCase[]>,
  material: readonly FailureCase[],
  over: Partial<LearnInput<unknown>> = {},
): Promise<Learned> {
  const proposals: Proposal[] = [];
  const stuck: LearnerFailure[] = [];
  const journal: string[] = [];
  let ids = 0;
  const input = {
    library: await libraryWith(),
    ask: undefined,
    newId: (prefix: string) => `${prefix}-${++ids}`,
    journal: (note: string) => journal.push(note),
    signal: new AbortController().signal,
    ...over,
    material,
  };
  for await (const step of learner.learn(input)) {
    if ('stuck' in step) stuck.push(step);
    else if ('change' in step) proposals.push(step);
  }
  return { proposals, stuck, journal };
}

/** A skill as a good model would write it. */
export const goodSkill = {
  name: 'amounts-in-cents',
  description: 'When amounts of money are written to a file.',
  content: [
    '## Amounts in cents',
    '1. Multiply each amount by 100 and round it.',
    '2. Write it as an integer.',
    '3. Name the unit in the header of the column.',
    'Example: `amount_cents,1299`',
    'Anti-pattern: writing 12.99 because it looks nicer.',
  ].join('\n'),
  category: 'data_analysis',
  quotes: [{ turn: 't1', text: 'The amounts must be in cents.' }],
};
