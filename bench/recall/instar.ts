import { pathToFileURL } from 'node:url';

/*
 * The parts of the built program that are measured. Benches are compiled on their own, so their shapes are said again.
 */

export interface Embed {
  readonly id: string;
  readonly dimensions: number;
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

export interface Lesson {
  readonly id: string;
  readonly revision: number;
  readonly text: { readonly name: string; readonly description: string; readonly content: string };
}

interface Recalled {
  readonly lessons: readonly Lesson[];
  readonly considered: readonly {
    readonly id: string;
    readonly relevance: number;
    readonly verdict: string;
  }[];
  readonly engine: string;
}

export interface RecallIndex {
  recall(
    query: { readonly text: string; readonly session: string; readonly agent: string },
    now: number,
  ): Promise<Recalled>;
  update(lessons: readonly Lesson[]): Promise<void>;
  settled(): Promise<void>;
  stats(): { readonly vectorBytes: number };
}

interface LexicalIndex {
  add(slot: number, text: { readonly head: string; readonly body: string }): void;
  terms(text: string): readonly object[];
  score(term: object, scores: Float32Array): void;
}

export interface VectorRows {
  set(slot: number, vector: Float32Array): void;
  query(vector: Float32Array): object;
  score(query: object, from: number, to: number, scores: Float32Array): void;
}

const load = async (file: string): Promise<unknown> => import(pathToFileURL(`dist/library/${file}.js`).href);

export const { createRecall } = (await load('recall/create-recall')) as {
  createRecall(settings: {
    readonly embed: Embed;
    readonly fallback: Embed;
    readonly limits: { readonly topK: number; readonly tokenBudget: number };
    readonly patienceMs?: number;
  }): RecallIndex;
};
export const { createMiniLmEmbed } = (await load('embed/minilm-embed')) as { createMiniLmEmbed(): Embed };
export const { createNgramEmbed } = (await load('embed/ngram-embed')) as { createNgramEmbed(): Embed };
export const { createLexicalIndex } = (await load('recall/lexical-index')) as {
  createLexicalIndex(): LexicalIndex;
};
export const { cleanQuery } = (await load('recall/clean-query')) as { cleanQuery(text: string): string };
export const { createVectorRows } = (await load('recall/vector-rows')) as {
  createVectorRows(dimensions: number, kernel?: object): VectorRows;
};
export const { createPlainKernel } = (await load('recall/dot-kernel')) as { createPlainKernel(): object };
export const { assembleModule, instantiate } = (await load('recall/wasm-module')) as {
  assembleModule(
    name: string,
    parameters: readonly number[],
    locals: readonly number[],
    body: readonly (readonly number[])[],
  ): Uint8Array;
  instantiate(bytes: Uint8Array):
    | {
        readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
        readonly exports: Readonly<Record<string, unknown>>;
      }
    | undefined;
};

/** A lesson as the library would have it, with the words that were given and nothing else. */
export function lessonOf(
  text: {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly content: string;
  },
  revision = 1,
): Lesson {
  const { id, name, description, content } = text;
  const note = {
    keywords: [],
    tags: [],
    importance: 0.5,
    confidence: 0.5,
    source: 'told',
    visibility: 'shared',
    halfLifeDays: 30,
    links: [],
  };
  const evidence = { turns: [], quotes: [], learner: 'person' };
  const rest = { kind: 'skill', state: 'live', pinned: false, frozen: false, createdAt: 0, changedAt: 0 };
  return {
    ...rest,
    id,
    revision,
    text: { name, description, content, scope: {}, note, evidence, taint: [] } as Lesson['text'],
  };
}
