import type { Question } from '../../bench/suite.ts';
import type { LoadedSuite } from './suites.ts';

/** `files`: tasks on files. `house`: these, and the choices that only somebody who knows a rule of the house can answer. */
export type Only = 'files' | 'house';

const WORDS: Readonly<Record<Only, string>> = {
  files: 'tasks on files',
  house: 'tasks on files and questions on the rules of the house',
};

/** The same days with some of their questions, and a note that says so. */
export function askOnly(loaded: LoadedSuite, only: Only | undefined): LoadedSuite {
  if (only === undefined) return loaded;
  return {
    of: (seed) => {
      const suite = loaded.of(seed);
      const days = suite.days.map((day) => ({ ...day, questions: day.questions.filter(isAsked(only)) }));
      return { ...suite, days };
    },
    notes: [...loaded.notes, `Only ${WORDS[only]} were asked: not to be compared with runs of all of them.`],
    options: { ...loaded.options, only },
  };
}

const isAsked =
  (only: Only) =>
  (question: Question): boolean =>
    question.kind === 'files' || (only === 'house' && question.rule !== undefined);
