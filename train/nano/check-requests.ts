import { type Datum, EngineError, LOSSES, type SampleRequest, type TrainBatch } from './engine.ts';
import type { ModelShape } from './model/decoder-weights.ts';

/** Far more than a training step sends, and few enough to finish within minutes. */
const MAX_BATCH_TOKENS = 131_072;

const checkNumbers = (values: Float32Array | undefined, datum: Datum, what: string): void => {
  if (values === undefined) return;
  if (values.length !== datum.tokens.length) {
    throw new EngineError(`${what} has length ${values.length}, but tokens has ${datum.tokens.length}`);
  }
  const wrong = values.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0) throw new EngineError(`${what}[${wrong}] is ${values[wrong]}; it must be a finite number`);
};

const checkTokenRange = (tokens: Int32Array, vocabulary: number, what: string): void => {
  const wrong = tokens.findIndex((token) => token < 0 || token >= vocabulary);
  if (wrong >= 0) {
    throw new EngineError(`${what}[${wrong}] is ${tokens[wrong]}; the vocabulary ends at ${vocabulary - 1}`);
  }
};

const checkDatum = (batch: TrainBatch, shape: ModelShape, datum: Datum, index: number): void => {
  const at = (part: string): string => `data[${index}].${part}`;
  const { tokens, targets } = datum;
  if (tokens.length === 0) throw new EngineError(`${at('tokens')} is empty`);
  if (tokens.length > shape.contextLength) {
    throw new EngineError(
      `${at('tokens')} has ${tokens.length} tokens; the model's context holds ${shape.contextLength}`,
    );
  }
  if (targets.length !== tokens.length) {
    throw new EngineError(`${at('targets')} has length ${targets.length}, but tokens has ${tokens.length}`);
  }
  checkTokenRange(tokens, shape.vocabulary, at('tokens'));
  checkTokenRange(targets, shape.vocabulary, at('targets'));
  for (const part of ['weights', 'advantages', 'logprobs'] as const)
    checkNumbers(datum[part], datum, at(part));
  if (batch.loss === 'cross_entropy') return;
  for (const part of ['advantages', 'logprobs'] as const) {
    if (datum[part] === undefined) throw new EngineError(`${at(part)} is missing; ${batch.loss} needs it`);
  }
};

const checkClip = ({ clip }: TrainBatch): void => {
  if (clip === undefined) return;
  const isRange = clip.low >= 0 && clip.low <= clip.high && Number.isFinite(clip.high);
  if (!isRange) throw new EngineError(`ratios cannot be clipped to [${clip.low}, ${clip.high}]`);
};

/** Throws an EngineError for an invalid batch. */
export const checkBatch = (batch: TrainBatch, shape: ModelShape): void => {
  if (!LOSSES.includes(batch.loss)) {
    throw new EngineError(`unknown loss "${batch.loss}"; the losses are ${LOSSES.join(', ')}`);
  }
  checkClip(batch);
  if (batch.data.length === 0) throw new EngineError('the batch is empty');
  const tokens = batch.data.reduce((sum, datum) => sum + datum.tokens.length, 0);
  if (tokens > MAX_BATCH_TOKENS) {
    throw new EngineError(`the batch has ${tokens} tokens; send at most ${MAX_BATCH_TOKENS} at a time`);
  }
  batch.data.forEach((datum, index) => {
    checkDatum(batch, shape, datum, index);
  });
};

const MAX_SEQUENCES = 1024;

/** Throws an EngineError for an invalid request. */
export const checkSampleRequest = (request: SampleRequest, shape: ModelShape): void => {
  const { prompt, count, maxTokens, temperature, topK, topP, seed, stop } = request;
  const need = (holds: boolean, what: string): void => {
    if (!holds) throw new EngineError(what);
  };
  need(prompt.length > 0, 'the prompt is empty');
  need(
    prompt.length < shape.contextLength,
    `the prompt has ${prompt.length} tokens; the model's context of ${shape.contextLength} leaves no room for a reply`,
  );
  checkTokenRange(prompt, shape.vocabulary, 'prompt');
  need(
    Number.isInteger(count) && count >= 1 && count <= MAX_SEQUENCES,
    `count is ${count}; it must be an integer from 1 to ${MAX_SEQUENCES}`,
  );
  need(
    Number.isInteger(maxTokens) && maxTokens >= 1,
    `maxTokens is ${maxTokens}; it must be a positive integer`,
  );
  need(
    Number.isFinite(temperature) && temperature >= 0,
    `temperature is ${temperature}; it must be at least 0`,
  );
  need(
    topK === -1 || (Number.isInteger(topK) && topK >= 1),
    `topK is ${topK}; it must be -1 or a positive integer`,
  );
  need(topP > 0 && topP <= 1, `topP is ${topP}; it must be above 0 and at most 1`);
  need(Number.isSafeInteger(seed), `seed is ${seed}; it must be an integer`);
  need(
    stop.every((token) => Number.isInteger(token) && token >= 0 && token < shape.vocabulary),
    `stop is [${stop}]; all must be tokens of the vocabulary`,
  );
};
