import type { LessonPlace, LessonPlaceSetting } from '../core/lesson.ts';

/** The most parameters, in billions, of a model whose own lessons do harm (lab/results/real-model.md). */
const SMALL_BILLIONS = 4;
/**
 * The most parameters, in billions, of a model that is shown lessons in the user's message. With 1.5 billion it followed 23 % of the rules
 * there and 5 % in the system prompt (lab/results/real-model.md); a large model weighs the block, and its user's message stays the user's.
 */
const MESSAGE_BILLIONS = 9;

/** Models that are served under a name without their size: the default of a local server's library. */
const UNNAMED_SIZES: readonly (readonly [name: RegExp, billions: number])[] = [
  [/^(?:smollm2?|tinyllama)$/, 1.7],
  [/^llama3\.2$/, 3],
  [/^(?:phi-?3(?:\.5)?|phi-?4-mini|phi-?3(?:\.5)?-mini)(?:-instruct)?$/, 3.8],
  [/^gemma3$/, 4],
  [/^(?:mistral|qwen2(?:\.5)?(?:-coder)?|llama2|codellama)$/, 7],
  [/^(?:llama3|llama3\.1|qwen3)$/, 8],
];

/** The parameters that the name of a model tells, in billions: `qwen2.5-coder:1.5b`, `smollm2:360m`. Of `30b-a3b` all of them. */
function billionsInName(model: string): number | undefined {
  const sizes = [...model.matchAll(/(?<![a-z0-9.])(\d{1,4}(?:\.\d{1,3})?)(b|m)(?![a-z0-9])/gi)].map(
    ([, size, unit]) => Number(size) * (unit?.toLowerCase() === 'm' ? 0.001 : 1),
  );
  return sizes.length > 0 ? Math.max(...sizes) : undefined;
}

const baseName = (model: string): string =>
  model
    .slice(model.lastIndexOf('/') + 1)
    .replace(/:latest$/, '')
    .toLowerCase();

const usualBillions = (model: string): number | undefined =>
  UNNAMED_SIZES.find(([pattern]) => pattern.test(baseName(model)))?.[1];

/** The parameters of a model in billions, as its name tells them; undefined when it does not. */
export const modelBillions = (model: string): number | undefined =>
  billionsInName(model) ?? usualBillions(model);

/** Models with a small context whose names do not tell it, in tokens. */
const SMALL_CONTEXTS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^(?:tinyllama|phi-?2|stablelm|pythia)/, 2048],
  [/^(?:llama-?2|vicuna|falcon|orca|wizardlm|solar|phi-?3(?:-mini)?(?::|$))/, 4096],
  [/^(?:(?:meta-)?llama-?3(?![.\d])|gemma-?2?(?![\w.])|gemma-?2-|gpt-4(?:-0613|-0314)?$|smollm2?)/, 8192],
  [/^(?:gpt-3\.5-turbo|codellama|starcoder2)/, 16_384],
];

/** The context of a model in tokens, where its name tells a small one: `phi-3-mini-4k-instruct`, `llama2`. Its server may give it less. */
function smallContext(model: string): number | undefined {
  const name = baseName(model);
  const [, thousands] = /(?<![a-z0-9.])(2|4|8|16)k(?![a-z0-9])/.exec(name) ?? [];
  if (thousands !== undefined) return Number(thousands) * 1024;
  return /(?<![a-z0-9.])\d{2,4}k(?![a-z0-9])/.test(name)
    ? undefined
    : SMALL_CONTEXTS.find(([pattern]) => pattern.test(name))?.[1];
}

/** The share of a model's context that lessons may have. */
const CONTEXT_SHARE = 1 / 8;

/** The tokens that lessons may add to a prompt of this model: what the setting says, where its context has that much room. */
export const roomForModel = (setting: number, model: string): number =>
  Math.min(setting, Math.floor((smallContext(model) ?? Number.POSITIVE_INFINITY) * CONTEXT_SHARE));

/** Whether the name of a model says that it is a small one. Names that tell no size say nothing. */
export const isSmallModel = (model: string): boolean =>
  (billionsInName(model) ?? Number.POSITIVE_INFINITY) <= SMALL_BILLIONS;

/**
 * Whether a model reads people better than the reader that ships with the package. One whose name tells no size counts as large only where
 * somebody hosts it. `isNear`: it runs on this machine or in a private network.
 */
export const isLargeModel = (model: string, isNear: boolean): boolean =>
  (modelBillions(model) ?? (isNear ? 0 : Number.POSITIVE_INFINITY)) > SMALL_BILLIONS;

/** Where lessons stand in a request to a model: where the setting says, or where models of its size follow them best. */
export function placeForModel(setting: LessonPlaceSetting, model: string): LessonPlace {
  if (setting !== 'auto') return setting;
  const billions = modelBillions(model) ?? Number.POSITIVE_INFINITY;
  return billions <= MESSAGE_BILLIONS ? 'message' : 'system';
}
