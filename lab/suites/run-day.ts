import { runAgent } from '../../src/agent/agent.ts';
import { createWorkspace, type Workspace } from '../../src/agent/sandbox/workspace.ts';
import { createConfinedAgentShell, createPlainAgentShell } from '../../src/agent/shell.ts';
import type { ChatMessage } from '../../src/core/chat.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { ArmEnvironment, PromptAddition } from './bench-environment.ts';
import type { QuestionRecord } from './run-records.ts';
import { readChoice, scoreChoice } from './score-choice.ts';
import { REPLY_FILE, type Suite, type SuiteDay, type SuiteQuestion } from './suite.ts';

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
  return {
    score: verdict.score ?? (passed ? 1 : 0),
    passed,
    rules: question.rules,
    broken,
    feedback,
    ...official,
  };
}

interface RunDayOptions {
  readonly environment: ArmEnvironment;
  readonly day: SuiteDay;
  readonly index: number;
  readonly suite: Pick<Suite, 'rules'>;
  /** Prefix of its session ids. */
  readonly name: string;
  readonly agent: string;
  readonly steps?: number;
  /** Whether to wait for the learner before each question; otherwise only before the next day. */
  readonly settleEach: boolean;
  /** Also behind an answer that was right, where a model reads what is said to it: what it is asked is then no matter of time. */
  readonly settlePassed?: boolean;
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
    const feedback: string[] = [];
    for (const [nth, question] of day.questions.entries()) {
      if (signal.aborted) return;
      const isAlone = day.conversation === 'question';
      const prompt = said === undefined || isAlone ? question.text : `${said}\n\n${question.text}`;
      const session = `${options.name}-${day.id}${isAlone ? `-${nth + 1}` : ''}`;
      const addition = await environment.addition();
      const system = [day.system, addition?.text ?? ''].filter(Boolean).join('\n\n');
      const asked = await ask(options, workspace, {
        system,
        prompt,
        history: isAlone ? [] : history,
        session,
      });
      const graded = await gradeQuestion(question, asked.run.answer, workspace, signal);
      if (signal.aborted) return;
      const turn = asked.run.turns.findLast((one) => one.turn !== undefined)?.turn;
      if (turn !== undefined && graded.score !== undefined)
        await environment.judge(turn, graded.passed === true ? 1 : -1, graded.feedback);
      if (graded.passed === false) environment.hear(graded.feedback);
      const context = isAlone ? [] : feedback;
      yield await rowOf(options, question, graded, { ...asked, addition, context });
      if (settleEach && (options.settlePassed === true || graded.passed !== true)) await environment.settle();
      history = asked.run.messages;
      if (day.feedback !== 'apart') said = graded.feedback;
      else if (graded.passed !== true) history = [...history, ...corrected(question, graded.feedback)];
      feedback.push(graded.feedback);
    }
    await environment.settle();
  } finally {
    await workspace.dispose();
  }
}

/** Feedback in a message of its own, and what the agent ends up with: the file as the user wants it, where the suite can write it. */
function corrected(question: SuiteQuestion, feedback: string): readonly ChatMessage[] {
  const file = question.kind === 'files' ? question.reply?.(new Set(question.rules)) : undefined;
  return [
    { role: 'user', content: [{ type: 'text', text: feedback }] },
    { role: 'assistant', content: [{ type: 'text', text: file ?? 'Understood.' }] },
  ];
}

interface Asked {
  readonly run: Awaited<ReturnType<typeof runAgent>>;
  readonly ms: number;
  readonly policyMs: number;
}

interface AskedQuestion {
  readonly system: string;
  readonly prompt: string;
  readonly history: readonly ChatMessage[];
  readonly session: string;
}

async function ask(
  { environment, day, agent, steps, clock, signal }: RunDayOptions,
  workspace: Workspace,
  { session, ...question }: AskedQuestion,
): Promise<Asked> {
  const shell =
    day.shell === 'none'
      ? undefined
      : day.shell === 'plain'
        ? createPlainAgentShell(workspace)
        : createConfinedAgentShell(workspace);
  const [before, policyBefore] = [clock.monotonic(), environment.policyMs()];
  const run = await runAgent({
    ...question,
    speak: environment.speak,
    speaker: { session, agent, runKind: 'bench' },
    model: environment.model,
    shell,
    limits: { ...day.sampling, ...(steps === undefined ? {} : { steps }) },
    signal,
  });
  if (shell === undefined) await workspace.write(REPLY_FILE, run.answer);
  return { run, ms: clock.monotonic() - before, policyMs: environment.policyMs() - policyBefore };
}

interface InContext extends Asked {
  readonly addition: PromptAddition | undefined;
  /** The feedback that stands in the conversation. */
  readonly context: readonly string[];
}

async function rowOf(
  options: RunDayOptions,
  question: SuiteQuestion,
  graded: Grade,
  asked: InContext,
): Promise<DayRow> {
  const { day, index } = options;
  const { run, ms, policyMs } = asked;
  const last = run.turns.findLast((one) => one.turn !== undefined);
  const why = run.failure === undefined ? graded.why : `${run.failure.kind}: ${run.failure.message}`;
  // An unavailable model has not failed the task.
  const isGraded = run.failure === undefined && graded.score !== undefined;
  return {
    day: index,
    dayId: day.id,
    ...(day.arc === undefined ? {} : { arc: day.arc }),
    question: question.id,
    kind: question.kind,
    ...(isGraded ? { score: graded.score, passed: graded.passed } : {}),
    ...(why === undefined ? {} : { why }),
    ...(graded.official === undefined ? {} : { official: graded.official }),
    rules: graded.rules,
    broken: graded.broken,
    generation: last?.generation ?? 0,
    ...(await teachingOf(options, graded.rules, asked)),
    steps: run.steps,
    inputTokens: run.usage.inputTokens,
    outputTokens: run.usage.outputTokens,
    usd: options.environment.usdOf?.(run.usage) ?? 0,
    ms,
    overheadMs: Math.max(0, ms - policyMs),
  } as DayRow;
}

/** What the prompt, and the library behind it, say about the rules of a question. */
async function teachingOf(
  { environment, suite }: RunDayOptions,
  ids: readonly string[],
  { run, addition, context }: InContext,
): Promise<Pick<DayRow, 'lessons' | 'listed' | 'taught' | 'byLine' | 'known' | 'told'>> {
  const turn = run.turns.findLast((one) => one.turn !== undefined)?.turn;
  const served = turn === undefined ? { bodies: [], lines: [] } : await environment.shown(turn);
  const [whole, brief] = [new Set([...served.bodies, ...(addition?.lessons ?? [])]), new Set(served.lines)];
  const library = await environment.library();
  const bodies = library.filter(({ id }) => whole.has(id)).map(({ text }) => text);
  const listed = library.filter(({ id }) => brief.has(id)).map(({ line }) => line);
  const notes = addition === undefined || addition.lessons.length > 0 ? [] : [addition.text];
  const rules = suite.rules.filter(({ id }) => ids.includes(id));
  const taughtBy = (texts: readonly string[]): readonly string[] =>
    rules.filter((rule) => texts.some((text) => rule.isTaughtBy(text))).map(({ id }) => id);
  const taught = taughtBy([...bodies, ...listed]);
  const byBody = taughtBy(bodies);
  return {
    lessons: [...whole, ...brief],
    listed: [...brief].filter((id) => !whole.has(id)),
    taught,
    byLine: taught.filter((id) => !byBody.includes(id)),
    known: taughtBy(library.map(({ text }) => text)),
    told: taughtBy([...context, ...notes]),
  };
}

async function openWorkspace({ files }: SuiteDay): Promise<Workspace> {
  if ('folder' in files) return createWorkspace({ from: files.folder });
  const workspace = await createWorkspace();
  for (const [file, text] of Object.entries(files.texts)) await workspace.write(file, text);
  return workspace;
}
