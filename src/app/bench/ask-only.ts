import type { Question } from '../../bench/suite.ts';
import type { LoadedSuite } from './suites.ts';

/** `files`: file tasks. `house`: file tasks and the choices that depend on a house rule. */
export type Only = 'files' | 'house';

const WORDS: Readonly<Record<Only, string>> = {
  files: 'file tasks',
  house: 'file tasks and questions on house rules',
};

/** The same days with some of their questions, and a note about it. */
export function askOnly(loaded: LoadedSuite, only: Only | undefined): LoadedSuite {
  if (only === undefined) return loaded;
  return {
    of: (seed) => {
      const suite = loaded.of(seed);
      const days = suite.days.map((day) => ({ ...day, questions: day.questions.filter(isAsked(only)) }));
      return { ...suite, days };
    },
    notes: [...loaded.notes, `Only ${WORDS[only]} were asked: do not compare with runs of all questions.`],
    options: { ...loaded.options, only },
  };
}

const isAsked =
  (only: Only) =>
  (question: Question): boolean =>
    question.kind === 'files' || (only === 'house' && question.rule !== undefined);
