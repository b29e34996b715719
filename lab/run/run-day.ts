import { runAgent } from '../../src/agent/agent.ts';
import { createWorkspace, type Workspace } from '../../src/agent/sandbox/workspace.ts';
import { createConfinedAgentShell, createPlainAgentShell } from '../../src/agent/shell.ts';
import type { ChatMessage } from '../../src/core/chat.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { QuestionRecord } from '../suite/run-records.ts';
import { readChoice, scoreChoice } from '../suite/score-choice.ts';
import type { SuiteDay, SuiteQuestion, SuiteRule } from '../suite/suite.ts';
import type { BenchEnvironment } from './bench-environment.ts';

interface Grade {
  /** Undefined when it could not be graded, with `why`. */
  readonly score?: number;
  readonly passed?: boolean;
  readonly why?: string;
  readonly official?: number;
  readonly rules: readonly string[];
  readonly broken: readonly string[];
  /** What the user says to it. */
  readonly feedback: string;
}

/** Grades an answer, or the state of the workspace. */
async function gradeQuestion(
  question: SuiteQuestion,
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
      ...(question.official === undefined ? {} : { official: question.official(answer) }),
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
  const official = verdict.official === undefined ? {} : { official: Number(verdict.official) };
  return { score: passed ? 1 : 0, passed, rules: question.rules, broken, feedback, ...official };
}

interface RunDayOptions {
  readonly environment: BenchEnvironment;
  readonly day: SuiteDay;
  readonly index: number;
  readonly rules: readonly SuiteRule[];
  /** Prefix of its session ids. */
  readonly name: string;
  readonly agent: string;
  readonly steps?: number;
  /** Whether to wait for the learner before each question; otherwise only before the next day. */
  readonly settleEach: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The result of one question, without the run it belongs to. */
type DayRow = Omit<QuestionRecord, 'condition' | 'seed'>;

/** One day: its questions in order in one workspace, each with the user's feedback on the one before. */
export async function* runDay(options: RunDayOptions): AsyncGenerator<DayRow, undefined> {
  const { environment, day, settleEach, signal } = options;
  const workspace = await openWorkspace(day);
  try {
    let said: string | undefined;
    let history: readonly ChatMessage[] = [];
    for (const [nth, question] of day.questions.entries()) {
      if (signal.aborted) return;
      const isAlone = day.conversation === 'question';
      const prompt = said === undefined || isAlone ? question.text : `${said}\n\n${question.text}`;
      const session = `${options.name}-${day.id}${isAlone ? `-${nth + 1}` : ''}`;
      const asked = await ask(options, workspace, prompt, isAlone ? [] : history, session);
      const graded = await gradeQuestion(question, asked.run.answer, workspace, signal);
      if (signal.aborted) return;
      const turn = asked.run.turns.findLast((one) => one.turn !== undefined)?.turn;
      if (turn !== undefined && graded.score !== undefined)
        await environment.judge(turn, graded.passed === true ? 1 : -1, graded.feedback);
      if (settleEach && graded.passed !== true) await environment.settle();
      history = asked.run.messages;
      said = graded.feedback;
      yield await rowOf(options, question.id, question.kind, graded, asked);
    }
    await environment.settle();
  } finally {
    await workspace.dispose();
  }
}

interface Asked {
  readonly run: Awaited<ReturnType<typeof runAgent>>;
  readonly ms: number;
  readonly policyMs: number;
}

async function ask(
  { environment, day, agent, steps, clock, signal }: RunDayOptions,
  workspace: Workspace,
  prompt: string,
  history: readonly ChatMessage[],
  session: string,
): Promise<Asked> {
  const shell =
    day.shell === 'plain' ? createPlainAgentShell(workspace) : createConfinedAgentShell(workspace);
  const [before, policyBefore] = [clock.monotonic(), environment.policyMs()];
  const run = await runAgent({
    speak: environment.speak,
    speaker: { session, agent, runKind: 'bench' },
    model: environment.model,
    system: day.system,
    history,
    prompt,
    shell,
    ...(steps === undefined ? {} : { limits: { steps } }),
    signal,
  });
  return { run, ms: clock.monotonic() - before, policyMs: environment.policyMs() - policyBefore };
}

async function rowOf(
  { environment, day, index, rules }: RunDayOptions,
  question: string,
  kind: QuestionRecord['kind'],
  graded: Grade,
  { run, ms, policyMs }: Asked,
): Promise<DayRow> {
  const last = run.turns.findLast((one) => one.turn !== undefined);
  const shown = new Set(run.turns.flatMap(({ lessons }) => lessons));
  const texts = (await environment.lessons()).filter(({ id }) => shown.has(id)).map(({ text }) => text);
  const isTaught = (id: string): boolean =>
    rules.some((rule) => rule.id === id && texts.some((text) => rule.isTaughtBy(text)));
  const why = run.failure === undefined ? graded.why : `${run.failure.kind}: ${run.failure.message}`;
  // An unavailable model has not failed the task.
  const isGraded = run.failure === undefined && graded.score !== undefined;
  return {
    day: index,
    dayId: day.id,
    ...(day.arc === undefined ? {} : { arc: day.arc }),
    question,
    kind,
    ...(isGraded ? { score: graded.score, passed: graded.passed } : {}),
    ...(why === undefined ? {} : { why }),
    ...(graded.official === undefined ? {} : { official: graded.official }),
    rules: graded.rules,
    broken: graded.broken,
    lessons: [...shown],
    generation: last?.generation ?? 0,
    taught: graded.rules.filter(isTaught),
    steps: run.steps,
    inputTokens: run.usage.inputTokens,
    outputTokens: run.usage.outputTokens,
    usd: 0,
    ms,
    overheadMs: Math.max(0, ms - policyMs),
  } as DayRow;
}

async function openWorkspace({ files }: SuiteDay): Promise<Workspace> {
  if ('folder' in files) return createWorkspace({ from: files.folder });
  const workspace = await createWorkspace();
  for (const [file, text] of Object.entries(files.texts)) await workspace.write(file, text);
  return workspace;
}
