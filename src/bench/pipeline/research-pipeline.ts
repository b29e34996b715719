import type { Usage } from '../../core/chat.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Speak } from '../../core/speak.ts';
import { createPipeline, type StageEnd } from '../../pipeline/pipeline.ts';
import type { StageContext } from '../../pipeline/stage-context.ts';
import { isOutage, type Report } from '../../pipeline/stage-outcome.ts';
import type { Convention } from './convention.ts';
import { HOUSE_CONVENTIONS } from './conventions/house-conventions.ts';
import { type Corpus, createCorpus } from './corpus.ts';
import { doModelStage, type Judged } from './do-model-stage.ts';
import type { PipelineRun, StageEndStatus, StageRecord } from './pipeline-run.ts';
import {
  type CodeStage,
  type Dossier,
  isScorable,
  type ModelStage,
  type Problem,
  type Stage,
} from './stage.ts';
import { STAGES } from './stages/stages.ts';

export interface ResearchPipelineOptions {
  /** Determines the corpus and the experiment: runs of one seed have the same topic. */
  readonly seed: string;
  readonly conventions?: readonly Convention[];
  /** Refine cycles in one attempt; default 2. */
  readonly maxRefines?: number;
  /** Attempts from scratch after the first; default 1. */
  readonly maxRetries?: number;
}

export interface RunOptions {
  readonly speak: Speak;
  readonly report: Report;
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
  readonly stages: readonly Stage[];
  readonly conventions: readonly Convention[];
  readonly corpus: Corpus;
  /** The most refine cycles that a stage can take, over all its attempts. */
  readonly mostRefines: number;
  /** All findings on an answer: its content, and the conventions it breaks. */
  check(stage: ModelStage, output: JsonObject, material: JsonObject): readonly Problem[];
  /** From the idea to the review. Never rejects: failures are in the records. */
  run(options: RunOptions): Promise<PipelineRun>;
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
      const replies: Judged[] = [];
      const isReady = stage.needs.every((one) => dossier.has(one)) && !signal.aborted;
      const place = { stage: stage.id, number: at + 1, of: STAGES.length, run: nth };
      const work = (context: StageContext): JsonObject | Promise<JsonObject> => {
        if (stage.kind === 'code') return doCodeStage(stage, dossier, corpus, seed, context);
        const material = stage.material(dossier, corpus);
        const judged = {
          check: (output: JsonObject) => check(stage, output, material),
          observe: (reply: Judged) => void replies.push(reply),
        };
        const numbered = { ...place, attempt: context.attempt };
        const asked = { stage, material, place: numbered, speak, model, maxRefines, ...judged };
        return doModelStage(asked, context);
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
  dossier: Dossier,
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
): done is { readonly problems: readonly Problem[] } => 'problems' in done;

function recordOf(
  stage: Stage,
  end: StageEnd<JsonObject> | undefined,
  replies: readonly Judged[],
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
