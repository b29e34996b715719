import type { JsonObject } from '../../core/json.ts';
import type { Corpus } from './corpus.ts';

/** What is wrong with a stage's output, in words that say what has to be different. */
export interface Problem {
  readonly reason: string;
  /** What was seen this time. */
  readonly detail?: string;
  /** The house convention that it breaks; absent where the content is wrong. */
  readonly convention?: string;
}

/** What the stages that are done have produced, by stage. */
export type Dossier = ReadonlyMap<string, JsonObject>;

interface Placed {
  readonly id: string;
  /** The stages whose output it works on: when one of them failed it cannot begin. */
  readonly needs: readonly string[];
}

/** A stage that a model does. */
export interface ModelStage extends Placed {
  readonly kind: 'model';
  readonly task: string;
  /** The fields of the answer, a line each. */
  readonly form: readonly string[];
  /** What the prompt shows beside the task. */
  material(dossier: Dossier, corpus: Corpus): JsonObject;
  /** An answer that is right and knows no convention of the house. */
  solve(material: JsonObject, corpus: Corpus): JsonObject;
  /** What is wrong with the content, conventions aside. Total: the output is a stranger's. */
  check(output: JsonObject, material: JsonObject, corpus: Corpus): readonly Problem[];
}

/** A stage that is code. It fails when it cannot work with what it was given. */
export interface CodeStage extends Placed {
  readonly kind: 'code';
  /** Whether its completion counts: only where it can fail. */
  readonly isScorable: boolean;
  perform(
    dossier: Dossier,
    corpus: Corpus,
    seed: string,
  ): JsonObject | { readonly problems: readonly Problem[] };
}

export type Stage = ModelStage | CodeStage;

export const isScorable = (stage: Stage): boolean => stage.kind === 'model' || stage.isScorable;
