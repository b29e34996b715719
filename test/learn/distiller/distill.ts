import type { CoveredByLesson, FailureCase, Proposal } from '../../../src/core/learn.ts';
import type { Library } from '../../../src/core/library.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { failure } from '../evolver/samples.ts';

export interface Heard {
  readonly proposals: readonly Proposal[];
  readonly known: readonly CoveredByLesson[];
}

/** Runs the distiller on failures with a library. */
export async function hear(material: readonly FailureCase[], library: Library): Promise<Heard> {
  const proposals: Proposal[] = [];
  const known: CoveredByLesson[] = [];
  let ids = library.lessons().length;
  const steps = createDistiller({ checkText: checkLessonText }).learn({
    material,
    library,
    ask: undefined,
    newId: (prefix) => `${prefix}-${++ids}`,
    journal: () => undefined,
    signal: new AbortController().signal,
  });
  for await (const step of steps) {
    if ('stuck' in step) throw new Error(step.stuck);
    if ('set' in step) throw new Error('the distiller decides nothing');
    if ('known' in step) known.push(step);
    else proposals.push(step);
  }
  return { proposals, known };
}

/** A failure with feedback of a person. */
export const toldOf = (number: number, feedback: string, task = 'Do it.'): FailureCase =>
  failure({
    turn: `t${number}`,
    session: `s${number}`,
    at: number,
    task,
    passages: [{ origin: 'person', text: feedback }],
  });

interface CorrectedParts {
  /** Said for later work too. */
  readonly isStanding?: boolean;
  readonly session?: string;
  readonly task?: string;
  readonly answer?: string;
}

/** A failure about which the user said something to the agent in the chat. */
export const corrected = (
  number: number,
  said: string,
  {
    isStanding = true,
    session = `s${number}`,
    task = 'Add lodash to the web app',
    answer,
  }: CorrectedParts = {},
): FailureCase =>
  failure({
    turn: `t${number}`,
    session,
    at: number,
    scope: { agent: 'coder', project: 'shop' },
    source: 'chat',
    task,
    passages: [
      { origin: 'user', text: task },
      ...(answer === undefined ? [] : [{ origin: 'assistant' as const, text: answer }]),
      { origin: 'user', text: said },
    ],
    appraisal: {
      reward: 0,
      source: 'chat',
      signals: [
        { name: 'user-corrected', source: 'chat', score: 0, weight: 1, reason: 'the user corrected it' },
      ],
      correction: { quotes: [said], isStanding },
    },
  });

/** A turn that nobody blamed, after which the user stated something. */
export const remarked = (number: number, said: string, verdict: 'ambiguous' | 'success' = 'ambiguous') => {
  const { appraisal, ...one } = corrected(number, said);
  const { correction: _, ...rest } = appraisal;
  return {
    ...one,
    source: 'signal' as const,
    appraisal: { ...rest, verdict, source: 'signal' as const, signals: [], remark: [said] },
  };
};
