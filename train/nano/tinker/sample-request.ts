import type { JsonObject } from '../../../src/core/json.ts';
import { EngineError, type EngineModel, type SampleRequest, type SampleResult } from '../engine.ts';
import { checkTokenIds } from './engine-input.ts';
import {
  flagField,
  integerField,
  numberField,
  objectField,
  optionalIntegerField,
  optionalObjectField,
  optionalTextField,
  ProtocolError,
} from './json-fields.ts';
import { decodeModelInput } from './train-request.ts';

/** The body of an asample. The weights are given by a sampling session, a path, or a model's name. */
export interface TinkerSampleRequest {
  readonly samplerId: string | undefined;
  readonly seqId: number | undefined;
  readonly path: string | undefined;
  readonly baseModel: string | undefined;
  readonly count: number;
  readonly tokens: Int32Array;
  readonly foreign: readonly string[];
  readonly maxTokens: number | undefined;
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly seed: number | undefined;
  /** Undefined: the model's end of text. Texts are decoded so that they can be rejected with a clear message. */
  readonly stop: readonly (number | string)[] | undefined;
  readonly wantsPromptLogprobs: boolean;
  /** Only the log-probabilities of this many last tokens of the prompt. */
  readonly lastPromptLogprobs: number | undefined;
  /** Members that request features this server does not have. */
  readonly unsupported: readonly string[];
}

const MAX_COUNT = 256;

export function decodeSampleRequest(body: JsonObject): TinkerSampleRequest {
  const params = objectField(body, 'sampling_params');
  const unsupported = ['topk_prompt_logprobs', 'topk_sample_logprobs', 'prompt_alt_tokens_k'].filter(
    (name) => (optionalIntegerField(body, name) ?? 0) > 0,
  );
  if (optionalObjectField(body, 'target_prompt_logprobs') !== undefined)
    unsupported.push('target_prompt_logprobs');
  if (flagField(body, 'record_stability_info', false)) unsupported.push('record_stability_info');
  return {
    samplerId: optionalTextField(body, 'sampling_session_id'),
    seqId: optionalIntegerField(body, 'seq_id'),
    path: optionalTextField(body, 'model_path'),
    baseModel: optionalTextField(body, 'base_model'),
    count: body.num_samples === undefined ? 1 : integerField(body, 'num_samples'),
    ...decodeModelInput(body.prompt, 'prompt'),
    maxTokens: optionalIntegerField(params, 'max_tokens'),
    temperature: numberField(params, 'temperature', 1),
    topK: optionalIntegerField(params, 'top_k') ?? -1,
    topP: numberField(params, 'top_p', 1),
    seed: optionalIntegerField(params, 'seed'),
    stop: decodeStop(params.stop ?? undefined),
    wantsPromptLogprobs: flagField(body, 'prompt_logprobs', false),
    lastPromptLogprobs: optionalIntegerField(body, 'prompt_logprobs_last_n'),
    unsupported,
  };
}

function decodeStop(value: unknown): readonly (number | string)[] | undefined {
  if (value === undefined) return undefined;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((item) => {
    if (typeof item === 'string' || (typeof item === 'number' && Number.isSafeInteger(item))) return item;
    throw new ProtocolError('stop must be a text, a list of texts, or token ids', 422);
  });
}

/** Throws an EngineError for an invalid request. `seed` is used when the request has none. */
export function toSampleRequest(
  ask: TinkerSampleRequest,
  model: EngineModel,
  endOfText: readonly number[],
  seed: number,
): SampleRequest {
  const [kind] = ask.foreign;
  const [feature] = ask.unsupported;
  if (kind !== undefined) throw new EngineError(`This model reads tokens, not ${kind.slice(0, 64)}.`);
  if (feature !== undefined) throw new EngineError(`${feature} is not supported.`);
  if (ask.tokens.length === 0) throw new EngineError('The prompt is empty.');
  if (ask.tokens.length > model.contextLength)
    throw new EngineError(
      `The prompt has ${ask.tokens.length} tokens; the model reads ${model.contextLength}.`,
    );
  checkTokenIds(ask.tokens, 'The prompt', model);
  if (ask.count < 1 || ask.count > MAX_COUNT)
    throw new EngineError(`num_samples must be from 1 to ${MAX_COUNT}.`);
  const room = model.contextLength - ask.tokens.length;
  const maxTokens = Math.min(ask.maxTokens ?? room, room);
  if (maxTokens < 0) throw new EngineError('max_tokens must not be negative.');
  if (!(ask.temperature >= 0 && Number.isFinite(ask.temperature)))
    throw new EngineError('temperature must be a number, and not negative.');
  if (!(ask.topP > 0 && ask.topP <= 1)) throw new EngineError('top_p must be above 0 and at most 1.');
  if (ask.topK < 1 && ask.topK !== -1) throw new EngineError('top_k must be at least 1, or -1 for all.');
  const stop = ask.stop ?? endOfText;
  return {
    prompt: ask.tokens,
    count: ask.count,
    maxTokens,
    temperature: ask.temperature,
    topK: ask.topK,
    topP: ask.topP,
    seed: ask.seed ?? seed,
    stop: stop.map((item) => {
      if (typeof item === 'number') return item;
      throw new EngineError('Stop sequences must be token ids; texts are not supported.');
    }),
    wantsPromptLogprobs: ask.wantsPromptLogprobs,
  };
}

/** The protocol has one value for each prompt token, NaN where there is none. */
export function alignPromptLogprobs(result: SampleResult, ask: TinkerSampleRequest): SampleResult {
  const { promptLogprobs } = result;
  if (!ask.wantsPromptLogprobs || promptLogprobs === undefined) return { sequences: result.sequences };
  const aligned = new Float32Array(ask.tokens.length).fill(Number.NaN);
  const known = promptLogprobs.subarray(Math.max(0, promptLogprobs.length - (ask.tokens.length - 1)));
  aligned.set(known, ask.tokens.length - known.length);
  if (ask.lastPromptLogprobs !== undefined) {
    const first = Math.max(1, ask.tokens.length - ask.lastPromptLogprobs);
    aligned.fill(Number.NaN, 0, first);
  }
  return { sequences: result.sequences, promptLogprobs: aligned };
}
