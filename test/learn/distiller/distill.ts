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
  const journal: string[] = [];
  let ids = library.lessons().length;
  const steps = createDistiller({ checkText: checkLessonText }).learn({
    material,
    library,
    ask: undefined,
    newId: (prefix) => `${prefix}-${++ids}`,
    journal: (note) => journal.push(note),
    signal: new AbortController().signal,
  });
  for await (const step of steps) {
    if ('stuck' in step) throw new Error(step.stuck);
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
