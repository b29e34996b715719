import type { ChatMessage, Usage } from '../../src/core/chat.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { GatewayClient, GatewayReply } from '../../src/core/gateway-client.ts';
import { isObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { createPipeline, type StageContext, type StageEnd } from '../../src/pipeline/pipeline.ts';
import { isOutage, type StageReport } from '../../src/pipeline/stage-outcome.ts';
import type { Convention } from './convention.ts';
import { type Corpus, createCorpus } from './corpus.ts';
import { HOUSE_CONVENTIONS } from './house-conventions.ts';
import type { PipelineRun, StageEndStatus, StageRecord } from './pipeline-journal.ts';
import {
  type CodeStage,
  isScorable,
  type ModelStage,
  type PipelineStage,
  type StageOutputs,
  type StageProblem,
} from './stage.ts';
import {
  assistantMessage,
  type PromptPosition,
  refinePrompt,
  requestOf,
  stagePrompt,
  userMessage,
} from './stage-prompt.ts';
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
  readonly said: GatewayReply;
  readonly problems: readonly StageProblem[];
}

interface ModelStageWork {
  readonly stage: ModelStage;
  readonly material: JsonObject;
  readonly place: PromptPosition;
  readonly speak: GatewayClient;
  readonly model: string;
  readonly check: (output: JsonObject) => readonly StageProblem[];
  readonly maxRefines: number;
  readonly observe: (judged: CheckedReply) => void;
}

const NO_JSON: StageProblem = { reason: 'Answer with one JSON object and nothing else.' };

/** One attempt: an answer, and refine cycles with the findings of the check up to the limit. */
async function runModelStage(work: ModelStageWork, context: StageContext): Promise<JsonObject> {
  const { stage, material, place, speak, model, check, maxRefines, observe } = work;
  let messages: readonly ChatMessage[] = [userMessage(stagePrompt(stage, material, place))];
  for (let cycle = 0; ; cycle++) {
    const said = await speak(requestOf(model, messages), context.speaker, context.signal);
    context.heard(said.turn);
    if (said.failure !== undefined) {
      observe({ said, problems: [] });
      context.interrupt(said.failure);
    }
    const output = readAnswer(said.text);
    const problems = output === undefined ? [NO_JSON] : check(output);
    observe({ said, problems });
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
      const work = (context: StageContext): JsonObject | Promise<JsonObject> => {
        if (stage.kind === 'code') return doCodeStage(stage, dossier, corpus, seed, context);
        const material = stage.material(dossier, corpus);
        const judged = {
          check: (output: JsonObject) => check(stage, output, material),
          observe: (reply: CheckedReply) => void replies.push(reply),
        };
        const numbered = { ...place, attempt: context.attempt };
        const asked = { stage, material, place: numbered, speak, model, maxRefines, ...judged };
        return runModelStage(asked, context);
      };
      const end = isReady ? await pipeline.stage(stage.id, work) : undefined;
      if (end?.ok) dossier.set(stage.id, end.value);
      const ms = clock.monotonic() - startedAt;
      stages.push(recordOf(stage, end, replies, { ms, isAborted: signal.aborted }));
    }
    return { run: nth, stages };
  };

  const mostRefines = maxRefines * (maxRetries + 1);
  return { seed, stages: STAGES, conventions, corpus, mostRefines, check, run };
}

function doCodeStage(
  stage: CodeStage,
  dossier: StageOutputs,
  corpus: Corpus,
  seed: string,
  context: StageContext,
): JsonObject {
  const done = stage.perform(dossier, corpus, seed);
  if (!isRefused(done)) return done;
  return context.fail(done.problems.map(({ reason }) => reason));
}

const isRefused = (
  done: ReturnType<CodeStage['perform']>,
): done is { readonly problems: readonly StageProblem[] } => 'problems' in done;

function recordOf(
  stage: PipelineStage,
  end: StageEnd<JsonObject> | undefined,
  replies: readonly CheckedReply[],
  { ms, isAborted }: { readonly ms: number; readonly isAborted: boolean },
): StageRecord {
  const outcomes = end?.outcomes ?? [];
  // A failed call is not an answer.
  const first = replies.find(({ said }) => said.failure === undefined);
  const tokens = (count: (usage: Usage) => number): number =>
    replies.reduce((sum, { said }) => sum + (said.usage === undefined ? 0 : count(said.usage)), 0);
  return {
    stage: stage.id,
    kind: stage.kind,
    isScorable: isScorable(stage),
    status: end === undefined && isAborted ? 'interrupted' : statusOf(end),
    attempts: outcomes.filter((outcome) => !isOutage(outcome)).length,
    refines: outcomes.reduce((sum, { refines }) => sum + refines.length, 0),
    broken: first?.problems.flatMap(({ convention }) => convention ?? []) ?? [],
    reasons: [
      ...new Set(
        outcomes
          .flatMap(({ refines, failures }) => [...refines.flat(), ...failures])
          .map(({ reason }) => reason),
      ),
    ],
    lessons: first?.said.lessons ?? [],
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
