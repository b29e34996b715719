import type { JsonObject } from '../../../src/core/json.ts';
import type { Corpus } from './corpus.ts';
import type { RunProgram } from './run-program.ts';

/** A finding of a stage's check; `reason` says what has to be different. */
export interface StageProblem {
  readonly reason: string;
  /** What the output had instead. */
  readonly detail?: string;
  /** The convention it breaks; absent where the content is wrong. */
  readonly convention?: string;
}

/** The outputs of the completed stages, by stage. */
export type StageOutputs = ReadonlyMap<string, JsonObject>;

interface Placed {
  readonly id: string;
  /** The stages whose output it uses: it is blocked when one of them failed. */
  readonly needs: readonly string[];
}

/** What a stage needs beside its input. */
export interface StageTools {
  readonly runProgram: RunProgram;
  readonly signal: AbortSignal;
}

/** A stage that a model does. */
export interface ModelStage extends Placed {
  readonly kind: 'model';
  readonly task: string;
  /** The fields of the answer, a line each. */
  readonly form: readonly string[];
  /** What the prompt contains beside the task. */
  material(dossier: StageOutputs, corpus: Corpus): JsonObject;
  /** A right answer that keeps no convention on purpose. */
  solve(material: JsonObject, corpus: Corpus): JsonObject;
  /** What is wrong with the content, apart from conventions. Never throws: the output is untrusted. */
  check(output: JsonObject, material: JsonObject, corpus: Corpus): readonly StageProblem[];
  /** Tries out an output that passed the check, where only that can show whether it works. */
  tryOut?(output: JsonObject, corpus: Corpus, tools: StageTools): Promise<readonly StageProblem[]>;
}

/** A stage that several models do independently, each with its own task; their answers are combined by code. */
export interface PanelStage extends Placed {
  readonly kind: 'panel';
  readonly members: readonly ModelStage[];
  /** `answers` in the order of the members. */
  combine(answers: readonly JsonObject[]): JsonObject;
}

/** A stage that is code. It fails when its input is unusable. */
export interface CodeStage extends Placed {
  readonly kind: 'code';
  /** Whether its completion counts: only if it can fail. */
  readonly isScorable: boolean;
  perform(dossier: StageOutputs, corpus: Corpus, tools: StageTools): Promise<StageResult>;
}

type StageResult = JsonObject | { readonly problems: readonly StageProblem[] };

export type PipelineStage = ModelStage | PanelStage | CodeStage;

export const isScorable = (stage: PipelineStage): boolean => stage.kind !== 'code' || stage.isScorable;

/** Every task that a model is given, those of panels among them. */
export const modelTasks = (stages: readonly PipelineStage[]): readonly ModelStage[] =>
  stages.flatMap((stage) => (stage.kind === 'model' ? [stage] : stage.kind === 'panel' ? stage.members : []));

/** Collects the findings of a check. */
export interface Checks {
  /** `reason` says what is required, `detail` what was found. */
  need(isSo: boolean, reason: string, detail?: string): void;
  readonly problems: readonly StageProblem[];
}

const LONGEST_DETAIL = 200;

export function createChecks(): Checks {
  const problems: StageProblem[] = [];
  return {
    need: (isSo, reason, detail) => {
      if (!isSo) problems.push({ reason, ...(detail ? { detail: detail.slice(0, LONGEST_DETAIL) } : {}) });
    },
    problems,
  };
}
