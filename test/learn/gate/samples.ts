import type { FailureCase, Judgement, Passage, Proposal } from '../../../src/core/learn.ts';
import type { Change, LessonText } from '../../../src/core/lesson.ts';
import type { Library } from '../../../src/core/library.ts';
import { createGate, type Gate, type GateOptions } from '../../../src/learn/gate/gate.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { openOn, person, setOf } from '../../lessons/library/samples.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { failureOf, proposalOf } from './corpus/cases.ts';

export const gateWith = (over: Partial<GateOptions> = {}): Gate =>
  createGate({
    autonomy: 'guarded',
    checkText: checkLessonText,
    hasSecret: (text) => text.includes('sk-live-'),
    findSimilar: async () => [],
    voteDay: (at) => String(Math.floor(at / 86_400_000)),
    ...over,
  });

/** A library with these changes, made by a person. */
export async function libraryWith(changes: readonly Change[] = []): Promise<Library> {
  const { library } = await openOn(createMemoryStore());
  if (changes.length > 0) await library.publish(setOf('first', changes, person));
  return library;
}

/** The text that a judgement publishes. */
export const textOf = (change: Judgement['change']): LessonText | undefined =>
  change !== undefined && 'text' in change ? change.text : undefined;

export const passage = (origin: Passage['origin'], text: string): Passage => ({ origin, text });

/** Two sessions with the same failure, reported by exit codes. */
export const twoFailures = (...passages: readonly Passage[]): readonly FailureCase[] =>
  [1, 2].map((number) => failureOf({ task: 'Make the tests pass.', passages, number }));

export const CLEAN = {
  name: 'guard-optional-lists',
  description: 'When code walks over a list that may be absent.',
  content: '1. Give the list a default where it comes from.\n2. Add a case without it.',
};

/** The judgement of a lesson with one more step, learned from a session with these passages. */
export async function judgeStep(
  step: string,
  passages: readonly Passage[] = [],
  over: Partial<GateOptions> = {},
): Promise<Judgement> {
  const cases = twoFailures(...passages);
  const proposal = proposalOf({ ...CLEAN, content: `${CLEAN.content}\n3. ${step}` }, cases);
  return gateWith(over)(proposal, cases, await libraryWith());
}

export const withEvidence = (proposal: Proposal, turns: readonly string[]): Proposal => {
  const text = proposedText(proposal);
  if (proposal.change.op !== 'add') throw new Error('the sample is an addition');
  return {
    ...proposal,
    change: { ...proposal.change, text: { ...text, evidence: { ...text.evidence, turns } } },
  };
};
