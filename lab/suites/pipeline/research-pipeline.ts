import type { ChatMessage, Usage } from '../../../src/core/chat.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import { createFailure } from '../../../src/core/failure.ts';
import type { CallerIdentity, GatewayClient, GatewayReply } from '../../../src/core/gateway-client.ts';
import { isObject, type JsonObject, parseJson } from '../../../src/core/json.ts';
import { createPipeline, type StageContext, type StageEnd } from '../../../src/pipeline/pipeline.ts';
import { isOutage, type StageReport } from '../../../src/pipeline/stage-outcome.ts';
import type { Convention } from './convention.ts';
import { type Corpus, createCorpus } from './corpus.ts';
import { HOUSE_CONVENTIONS } from './house-conventions.ts';
import { ProgramNotRun } from './measurements.ts';
import type { PipelineRun, StageEndStatus, StageRecord } from './pipeline-journal.ts';
import { type RunProgram, runConfinedProgram } from './run-program.ts';
import {
  type CodeStage,
  isScorable,
  type ModelStage,
  type PanelStage,
  type PipelineStage,
  type StageOutputs,
  type StageProblem,
  type StageTools,
} from './stage.ts';
import {
  assistantMessage,
  type PromptPosition,
  refinePrompt,
  requestOf,
  stagePrompt,
  userMessage,
} from './stage-prompt.ts';
import { reviewsIn } from './stages/review.ts';
import { STAGES } from './stages/stages.ts';

/** The JSON object in a reply, without the text around it; undefined when there is none. */
function readAnswer(text: string): JsonObject | undefined {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  const value = from < 0 || to < from ? undefined : parseJson(text.slice(from, to + 1));
  return isObject(value) ? value : undefined;
}

/** One reply of the model with the findings of the check. */
interface CheckedReply {
  /** The stage, or the member of a panel. */
  readonly by: string;
  readonly said: GatewayReply;
  readonly problems: readonly StageProblem[];
}

interface ModelStageWork {
  readonly stage: ModelStage;
  readonly material: JsonObject;
  readonly place: PromptPosition;
  readonly speak: GatewayClient;
  readonly model: string;
  readonly check: (output: JsonObject) => Promise<readonly StageProblem[]>;
  /** Who answers: the stage's session, or one of a panel. */
  readonly speaker: CallerIdentity;
  readonly maxRefines: number;
  readonly observe: (judged: CheckedReply) => void;
}

const NO_JSON: StageProblem = { reason: 'Answer with one JSON object and nothing else.' };

/** One attempt: an answer, and refine cycles with the findings of the check up to the limit. */
async function runModelStage(work: ModelStageWork, context: StageContext): Promise<JsonObject> {
  const { stage, material, place, speak, model, check, speaker, maxRefines, observe } = work;
  let messages: readonly ChatMessage[] = [userMessage(stagePrompt(stage, material, place))];
  for (let cycle = 0; ; cycle++) {
    const said = await speak(requestOf(model, messages), speaker, context.signal);
    context.heard(said.turn);
    if (said.failure !== undefined) {
      observe({ by: stage.id, said, problems: [] });
      context.interrupt(said.failure);
    }
    const output = readAnswer(said.text);
    const problems = output === undefined ? [NO_JSON] : await check(output);
    observe({ by: stage.id, said, problems });
    if (output !== undefined && problems.length === 0) return output;
    const reasons = problems.map(({ reason }) => reason);
    const seen = problems.flatMap(({ detail }) => detail ?? []).join('; ');
    const detail = seen === '' ? undefined : seen;
    if (cycle >= maxRefines) context.fail(reasons, detail);
    context.refine(reasons, detail);
    messages = [...messages, assistantMessage(said.text), userMessage(refinePrompt(problems))];
  }
}

interface ResearchPipelineOptions {
  /** Determines the corpus and the experiment: runs of one seed have the same topic. */
  readonly seed: string;
  readonly conventions?: readonly Convention[];
  /** Refine cycles in one attempt; default 2. */
  readonly maxRefines?: number;
  /** Attempts from scratch after the first; default 1. */
  readonly maxRetries?: number;
  /** Runs the programs that models write; the sandbox by default. */
  readonly runProgram?: RunProgram;
}

interface PipelineRunOptions {
  readonly speak: GatewayClient;
  readonly report: StageReport;
  readonly model: string;
  /** The agent that owns the lessons. */
  readonly agent: string;
  /** Counts from 1. */
  readonly run: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export interface ResearchPipeline {
  readonly seed: string;
  readonly stages: readonly PipelineStage[];
  readonly conventions: readonly Convention[];
  readonly corpus: Corpus;
  /** The most refine cycles that a stage can take, over all its attempts. */
  readonly mostRefines: number;
  /** All findings on an answer: its content, and the conventions it breaks. */
  check(stage: ModelStage, output: JsonObject, material: JsonObject): readonly StageProblem[];
  /** From the idea to the review. Never rejects: failures are in the records. */
  run(options: PipelineRunOptions): Promise<PipelineRun>;
}

export function createResearchPipeline(options: ResearchPipelineOptions): ResearchPipeline {
  const { seed, conventions = HOUSE_CONVENTIONS, maxRefines = 2, maxRetries = 1 } = options;
  const { runProgram = runConfinedProgram } = options;
  const corpus = createCorpus(seed);

  const check: ResearchPipeline['check'] = (stage, output, material) => [
    ...stage.check(output, material, corpus),
    ...conventions
      .filter(({ stages }) => stages.includes(stage.id))
      .filter((one) => !one.isKept(output, { stage: stage.id, corpus }))
      .map(({ id, demand }) => ({ reason: demand, convention: id })),
  ];

  const run: ResearchPipeline['run'] = async (options) => {
    const { speak, report, model, agent, run: nth, signal, clock = systemClock } = options;
    const pipeline = createPipeline({
      name: 'research',
      run: `${seed}-run-${nth}`,
      agent,
      report,
      retries: maxRetries,
      clock,
      signal,
    });
    const dossier = new Map<string, JsonObject>();
    const stages: StageRecord[] = [];
    for (const [at, stage] of STAGES.entries()) {
      const startedAt = clock.monotonic();
      const replies: CheckedReply[] = [];
      const isReady = stage.needs.every((one) => dossier.has(one)) && !signal.aborted;
      const place = { stage: stage.id, number: at + 1, of: STAGES.length, run: nth };
      const work = (context: StageContext): Promise<JsonObject> => {
        const tools = { runProgram, signal };
        if (stage.kind === 'code') return doCodeStage(stage, dossier, corpus, tools, context);
        const ask = (one: ModelStage, speaker: CallerIdentity): Promise<JsonObject> => {
          const material = one.material(dossier, corpus);
          return runModelStage(
            {
              stage: one,
              material,
              place: { ...place, stage: one.id, attempt: context.attempt },
              speak,
              model,
              speaker,
              maxRefines,
              check: async (output) => {
                const found = check(one, output, material);
                if (found.length > 0 || one.tryOut === undefined) return found;
                return unlessNotRun(async () => one.tryOut?.(output, corpus, tools) ?? [], context);
              },
              observe: (reply) => void replies.push(reply),
            },
            context,
          );
        };
        return stage.kind === 'model' ? ask(stage, context.speaker) : askPanel(stage, ask, context);
      };
      const end = isReady ? await pipeline.stage(stage.id, work) : undefined;
      if (end?.ok) dossier.set(stage.id, end.value);
      const ms = clock.monotonic() - startedAt;
      const reviews = stage.kind === 'panel' && end?.ok ? { reviews: reviewsIn(end.value) } : {};
      stages.push({ ...recordOf(stage, end, replies, { ms, isAborted: signal.aborted }), ...reviews });
    }
    return { run: nth, stages };
  };

  const mostRefines = maxRefines * (maxRetries + 1);
  return { seed, stages: STAGES, conventions, corpus, mostRefines, check, run };
}

/** One after the other, each in a session of its own: no member sees what another wrote. */
async function askPanel(
  stage: PanelStage,
  ask: (one: ModelStage, speaker: CallerIdentity) => Promise<JsonObject>,
  { speaker }: StageContext,
): Promise<JsonObject> {
  const answers: JsonObject[] = [];
  for (const member of stage.members)
    answers.push(await ask(member, { ...speaker, session: `${speaker.session}:${member.id}` }));
  return stage.combine(answers);
}

/** A program that could not be run says nothing about the work: the stage is interrupted. */
async function unlessNotRun<T>(work: () => Promise<T>, context: StageContext): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProgramNotRun) return context.interrupt(createFailure('internal', error.message));
    throw error;
  }
}

async function doCodeStage(
  stage: CodeStage,
  dossier: StageOutputs,
  corpus: Corpus,
  tools: StageTools,
  context: StageContext,
): Promise<JsonObject> {
  const done = await unlessNotRun(() => stage.perform(dossier, corpus, tools), context);
  if (!isRefused(done)) return done;
  const seen = done.problems.flatMap(({ detail }) => detail ?? []).join('; ');
  return context.fail(
    done.problems.map(({ reason }) => reason),
    seen === '' ? undefined : seen,
  );
}

const isRefused = (
  done: Awaited<ReturnType<CodeStage['perform']>>,
): done is { readonly problems: readonly StageProblem[] } => 'problems' in done;

function recordOf(
  stage: PipelineStage,
  end: StageEnd<JsonObject> | undefined,
  replies: readonly CheckedReply[],
  { ms, isAborted }: { readonly ms: number; readonly isAborted: boolean },
): StageRecord {
  const outcomes = end?.outcomes ?? [];
  // A failed call is not an answer. In a panel, each member has a first one.
  const answered = replies.filter(({ said }) => said.failure === undefined);
  const first = answered.filter(({ by }, nth) => answered.findIndex((other) => other.by === by) === nth);
  const tokens = (count: (usage: Usage) => number): number =>
    replies.reduce((sum, { said }) => sum + (said.usage === undefined ? 0 : count(said.usage)), 0);
  return {
    stage: stage.id,
    kind: stage.kind === 'code' ? 'code' : 'model',
    isScorable: isScorable(stage),
    status: end === undefined && isAborted ? 'interrupted' : statusOf(end),
    attempts: outcomes.filter((outcome) => !isOutage(outcome)).length,
    refines: outcomes.reduce((sum, { refines }) => sum + refines.length, 0),
    broken: [
      ...new Set(first.flatMap(({ problems }) => problems.flatMap(({ convention }) => convention ?? []))),
    ],
    reasons: [
      ...new Set(
        outcomes
          .flatMap(({ refines, failures }) => [...refines.flat(), ...failures])
          .map(({ reason }) => reason),
      ),
    ],
    lessons: [...new Set(first.flatMap(({ said }) => said.lessons))],
    inputTokens: tokens(({ inputTokens }) => inputTokens),
    outputTokens: tokens(({ outputTokens }) => outputTokens),
    ms,
  };
}

function statusOf(end: StageEnd<JsonObject> | undefined): StageEndStatus {
  if (end === undefined) return 'blocked';
  if (end.ok) return 'completed';
  // The last outcome decides: an interrupted stage might still have succeeded.
  const last = end.outcomes.at(-1);
  return last === undefined || isOutage(last) ? 'interrupted' : 'failed';
}
