import type { FileQuestion } from '../suite/suite.ts';
import { CARRY_ON } from './carry-on.ts';
import type { FilesRound } from './data-schema.ts';
import { parseCommand } from './parse-command.ts';
import { ruleOf } from './rules.ts';
import { type Expected, runSteps } from './run-steps.ts';
import type { Step } from './step.ts';

/** As the published harness has it. */
const SECONDS = 30;

export interface ReadFileQuestion {
  readonly question: FileQuestion;
  readonly steps: readonly Step[];
  readonly notes: readonly string[];
}

/** Throws, saying what of the command it does not understand. */
export function fileQuestion(
  id: string,
  round: FilesRound,
  solution: readonly string[] | undefined,
): ReadFileQuestion {
  const { command, expect_exit: exit, expect_stdout: stdout, timeout = SECONDS } = round.eval;
  const { steps, notes } = parseCommand(command);
  if (stdout !== undefined && steps.some((step) => step.kind !== 'python'))
    throw new Error(
      'expect_stdout asks what a checker prints, and ours print nothing: only python -c can have it',
    );
  const expected: Expected = { exit, timeoutMs: timeout * 1000, ...(stdout !== undefined && { stdout }) };
  const rules = new Set(steps.flatMap((step) => ruleOf(step) ?? []));
  const question: FileQuestion = {
    kind: 'files',
    id,
    text: round.question,
    rules: [...rules].sort(),
    check: (workspace, signal) => runSteps(workspace, steps, expected, signal),
    feedback: ({ status, passed }) => {
      if (status === 'failed-to-run') return 'I could not look at this yet. Carry on with what comes next.';
      return passed ? round.feedback.correct : `${round.feedback.incorrect}\n${CARRY_ON}`;
    },
    ...(solution !== undefined && { solve: () => solution }),
  };
  return { question, steps, notes };
}
