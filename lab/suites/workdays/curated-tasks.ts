import type { PracticeTask } from '../../../src/core/practice.ts';
import { graded, notRun, type Verification } from '../../../src/core/verifier.ts';
import type { FileQuestion, TaskVerdict } from '../suite.ts';
import { type WorkTaskOptions, workQuestions } from './task-source.ts';

/** A file task as a person would write it down for practice, with the question that checks it. */
export interface CuratedWork {
  readonly task: PracticeTask;
  readonly question: FileQuestion;
}

interface CuratedOptions extends WorkTaskOptions {
  /** Whose tasks they are. */
  readonly agent: string;
  /** How many earlier tasks of the same world, with what the user said to them, stand before each task; none by default. */
  readonly earlier?: number;
}

/** The domain of all file tasks. */
const WORK_DOMAIN = 'workdays';

/** Tasks of the suite as curated tasks. The suite's own check stands behind `check`: its verdict is told in the user's words. */
export const makeCuratedWork = ({ agent, earlier = 0, ...options }: CuratedOptions): readonly CuratedWork[] =>
  [...workQuestions(options)].flatMap((world) =>
    world.map(({ id, system, question, files }, at) => {
      const history = world.slice(Math.max(0, at - earlier), at).flatMap((one) => toldOnce(one.question));
      return {
        question,
        task: {
          id,
          root: id,
          origin: 'curated',
          prompt: question.text,
          system,
          ...(history.length === 0 ? {} : { history }),
          domain: WORK_DOMAIN,
          agent,
          workspace: { kind: 'files', files },
          check: { kind: 'module', file: 'workdays' },
        },
      };
    }),
  );

/** A task that was done without its rules, and what the user said to that. */
function toldOnce(question: FileQuestion): NonNullable<PracticeTask['history']> {
  const broken = { status: 'ok', passed: false, isDone: true, broken: question.rules, reasons: [] } as const;
  return [
    { role: 'user', text: question.text },
    { role: 'assistant', text: 'Done.' },
    { role: 'user', text: question.feedback(broken) },
    { role: 'assistant', text: 'Understood.' },
  ];
}

/**
 * The share of checks that were kept: that the task was done is one, each of its rules another. Work that is not done gets 0, since a
 * file that does not exist breaks few rules. The reasons are what the user says, a line for each thing that is wrong.
 */
export function gradeVerdict(question: FileQuestion, verdict: TaskVerdict): Verification {
  const { status, passed, isDone, broken, reasons } = verdict;
  if (status === 'failed-to-run') return notRun(...reasons);
  const checks = 1 + question.rules.length;
  const reward = passed ? 1 : isDone === false ? 0 : (checks - broken.length) / checks;
  return graded(reward, ...(passed ? [] : question.feedback(verdict).split('\n')));
}
