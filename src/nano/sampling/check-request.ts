import { EngineError, type SampleRequest } from '../engine.ts';
import type { Shape } from '../shape.ts';
import { checkTokens } from '../training/check-batch.ts';

const MAX_SEQUENCES = 1024;

/** Throws an EngineError for an invalid request. */
export const checkRequest = (request: SampleRequest, shape: Shape): void => {
  const { prompt, count, maxTokens, temperature, topK, topP, seed, stop } = request;
  const need = (holds: boolean, what: string): void => {
    if (!holds) throw new EngineError(what);
  };
  need(prompt.length > 0, 'the prompt is empty');
  need(
    prompt.length < shape.contextLength,
    `the prompt has ${prompt.length} tokens; the model's context of ${shape.contextLength} leaves no room for a reply`,
  );
  checkTokens(prompt, shape.vocabulary, 'prompt');
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
