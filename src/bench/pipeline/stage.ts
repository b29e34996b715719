import type { JsonObject } from '../../core/json.ts';
import type { Corpus } from './corpus.ts';

/** A finding of a stage's check; `reason` says what has to be different. */
export interface Problem {
  readonly reason: string;
  /** What the output had instead. */
  readonly detail?: string;
  /** The convention it breaks; absent where the content is wrong. */
  readonly convention?: string;
}

/** The outputs of the completed stages, by stage. */
export type Dossier = ReadonlyMap<string, JsonObject>;

interface Placed {
  readonly id: string;
  /** The stages whose output it uses: it is blocked when one of them failed. */
  readonly needs: readonly string[];
}

/** A stage that a model does. */
export interface ModelStage extends Placed {
  readonly kind: 'model';
  readonly task: string;
  /** The fields of the answer, a line each. */
  readonly form: readonly string[];
  /** What the prompt contains beside the task. */
  material(dossier: Dossier, corpus: Corpus): JsonObject;
  /** A right answer that keeps no convention on purpose. */
  solve(material: JsonObject, corpus: Corpus): JsonObject;
  /** What is wrong with the content, apart from conventions. Never throws: the output is untrusted. */
  check(output: JsonObject, material: JsonObject, corpus: Corpus): readonly Problem[];
}

/** A stage that is code. It fails when its input is unusable. */
export interface CodeStage extends Placed {
  readonly kind: 'code';
  /** Whether its completion counts: only if it can fail. */
  readonly isScorable: boolean;
  perform(
    dossier: Dossier,
    corpus: Corpus,
    seed: string,
  ): JsonObject | { readonly problems: readonly Problem[] };
}

export type Stage = ModelStage | CodeStage;

export const isScorable = (stage: Stage): boolean => stage.kind === 'model' || stage.isScorable;
