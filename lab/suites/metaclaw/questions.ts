import type { ChoiceQuestion, FileQuestion } from '../suite.ts';
import type { ChoiceRound, FilesRound } from './data-files.ts';
import { type CheckStep, parseCommand } from './parse-command.ts';
import { rulesCheckedBy } from './rules.ts';
import { type ExpectedOutcome, runSteps } from './run-steps.ts';

const NO_ANSWER =
  'I could not read an answer: put the letters into \\bbox{…}, \\bbox{A} for one or \\bbox{A,B} for several.';

/**
 * After a wrong answer the user explains the options that were missed and those chosen wrongly, and not the others, like the published
 * harness.
 */
export function choiceQuestion(id: string, round: ChoiceRound): ChoiceQuestion {
  const { options, answer } = round.eval;
  const { correct, options: said } = round.feedback;
  const explain = (letter: string): string => (Object.hasOwn(said, letter) ? (said[letter] ?? '') : '');
  return {
    kind: 'choice',
    id,
    text: round.question,
    options,
    answer,
    feedback: (chosen) => {
      if (chosen === undefined) return NO_ANSWER;
      const leftOut = answer.filter((letter) => !chosen.includes(letter)).sort();
      const tooMany = chosen.filter((letter) => !answer.includes(letter)).sort();
      if (leftOut.length + tooMany.length === 0) return correct;
      const lines = [
        ...leftOut.map((letter) => `You left out ${letter}. ${explain(letter)}`),
        ...tooMany.map((letter) =>
          Object.hasOwn(options, letter)
            ? `You chose ${letter}. ${explain(letter)}`
            : `You chose ${letter}, which is no option.`,
        ),
      ];
      return lines.map((line) => line.trim()).join('\n');
    },
    official: (text) => officialChoiceScore(text, answer, Object.keys(options).length),
  };
}

/** The timeout of the published harness. */
const SECONDS = 30;

export interface ParsedFileQuestion {
  readonly question: FileQuestion;
  readonly steps: readonly CheckStep[];
  readonly notes: readonly string[];
}

/** How a question with these rules is solved; undefined where nobody knows. */
export type Solver = (id: string, rules: readonly string[]) => FileQuestion['solve'] | undefined;

/** Throws for a command that it does not understand, with the reason. */
export function fileQuestion(id: string, round: FilesRound, solverOf: Solver): ParsedFileQuestion {
  const { command, expect_exit: exit, expect_stdout: stdout, timeout = SECONDS } = round.eval;
  const { steps, notes } = parseCommand(command);
  if (stdout !== undefined && steps.some((step) => step.kind !== 'python'))
    throw new Error(
      'expect_stdout asks what a checker prints, and ours print nothing: only python -c can have it',
    );
  const expected: ExpectedOutcome = {
    exit,
    timeoutMs: timeout * 1000,
    ...(stdout !== undefined && { stdout }),
  };
  const rules = [...new Set(steps.flatMap(rulesCheckedBy))].sort();
  const solve = solverOf(id, rules);
  const question: FileQuestion = {
    kind: 'files',
    id,
    text: round.question,
    rules,
    check: (workspace, signal) => runSteps(workspace, steps, expected, signal),
    feedback: ({ status, passed }) => {
      if (status === 'failed-to-run') return 'I could not look at this yet.';
      return passed ? round.feedback.correct : round.feedback.incorrect;
    },
    ...(solve !== undefined && { solve }),
  };
  return { question, steps, notes };
}

/** A box as the published harness finds it: up to the first closing brace. */
const FIRST_BOX = /\\(?:bbox|boxed)\{([^}]{0,300})\}/;

/**
 * The score of a choice by the published harness: the first box counts, each letter in it is a choice, and each letter too many or left
 * out costs one option. It can fall below 0 when letters are chosen that are no options; the paper's formula stops at 0. Without a box it
 * is 0.
 */
export function officialChoiceScore(reply: string, answer: readonly string[], options: number): number {
  const letters = FIRST_BOX.exec(reply)?.[1]?.match(/[A-Za-z]/g);
  if (letters === undefined || letters === null || options === 0) return 0;
  const [given, right] = [new Set(letters.map((one) => one.toUpperCase())), new Set(answer)];
  const wrong =
    [...given].filter((one) => !right.has(one)).length + [...right].filter((one) => !given.has(one)).length;
  return 1 - wrong / options;
}
