import type { Workspace } from '../../sandbox/workspace.ts';
import { readChoice } from '../read-choice.ts';
import { scoreChoice } from '../score-choice.ts';
import type { Question } from '../suite.ts';

export interface Grade {
  /** Undefined when it could not be graded, with `why`. */
  readonly score?: number;
  readonly passed?: boolean;
  readonly why?: string;
  readonly rules: readonly string[];
  readonly broken: readonly string[];
  /** What the user says to it. */
  readonly feedback: string;
}

/** Grades an answer, or the state of the workspace. */
export async function gradeQuestion(
  question: Question,
  answer: string,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<Grade> {
  if (question.kind === 'choice') {
    const chosen = readChoice(answer, question.options);
    const { score, exact } = scoreChoice(chosen, question.answer, question.options);
    const rules = question.rule === undefined ? [] : [question.rule];
    return {
      score,
      passed: exact,
      ...(chosen === undefined ? { why: 'no answer could be read' } : {}),
      rules,
      broken: exact ? [] : rules,
      feedback: question.feedback(chosen),
    };
  }
  const verdict = await question.check(workspace, signal);
  const { status, passed, broken, reasons } = verdict;
  const feedback = question.feedback(verdict);
  if (status === 'failed-to-run')
    return {
      why: `the check could not run: ${reasons.join('; ')}`,
      rules: question.rules,
      broken: [],
      feedback,
    };
  return { score: passed ? 1 : 0, passed, rules: question.rules, broken, feedback };
}
