import { runAgent } from '../../agent/agent.ts';
import { createConfinedShell, createPlainShellOf } from '../../agent/shell.ts';
import type { ChatMessage } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import { createWorkspace, type Workspace } from '../../sandbox/workspace.ts';
import type { Row } from '../row.ts';
import type { Day, Rule } from '../suite.ts';
import type { Bed } from './bed.ts';
import { type Grade, gradeQuestion } from './grade-question.ts';

export interface RunDayOptions {
  readonly bed: Bed;
  readonly day: Day;
  readonly index: number;
  readonly rules: readonly Rule[];
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
export type DayRow = Omit<Row, 'condition' | 'seed'>;

/** One day: its questions in order in one workspace, each with the user's feedback on the one before. */
export async function* runDay(options: RunDayOptions): AsyncGenerator<DayRow, undefined> {
  const { bed, day, settleEach, signal } = options;
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
        await bed.judge(turn, graded.passed === true ? 1 : -1, graded.feedback);
      if (settleEach && graded.passed !== true) await bed.settle();
      history = asked.run.messages;
      said = graded.feedback;
      yield await rowOf(options, question.id, question.kind, graded, asked);
    }
    await bed.settle();
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
  { bed, day, agent, steps, clock, signal }: RunDayOptions,
  workspace: Workspace,
  prompt: string,
  history: readonly ChatMessage[],
  session: string,
): Promise<Asked> {
  const shell = day.shell === 'plain' ? createPlainShellOf(workspace) : createConfinedShell(workspace);
  const [before, policyBefore] = [clock.monotonic(), bed.policyMs()];
  const run = await runAgent({
    speak: bed.speak,
    speaker: { session, agent, runKind: 'bench' },
    model: bed.model,
    system: day.system,
    history,
    prompt,
    shell,
    ...(steps === undefined ? {} : { limits: { steps } }),
    signal,
  });
  return { run, ms: clock.monotonic() - before, policyMs: bed.policyMs() - policyBefore };
}

async function rowOf(
  { bed, day, index, rules }: RunDayOptions,
  question: string,
  kind: Row['kind'],
  graded: Grade,
  { run, ms, policyMs }: Asked,
): Promise<DayRow> {
  const last = run.turns.findLast((one) => one.turn !== undefined);
  const shown = new Set(run.turns.flatMap(({ lessons }) => lessons));
  const texts = (await bed.lessons()).filter(({ id }) => shown.has(id)).map(({ text }) => text);
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

async function openWorkspace({ files }: Day): Promise<Workspace> {
  if ('folder' in files) return createWorkspace({ from: files.folder });
  const workspace = await createWorkspace();
  for (const [file, text] of Object.entries(files.texts)) await workspace.write(file, text);
  return workspace;
}
