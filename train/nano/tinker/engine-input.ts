import type { JsonObject } from '../../../src/core/json.ts';
import {
  type AdamParams,
  type Datum,
  EngineError,
  type EngineModel,
  LOSSES,
  type LoraOptions,
  type LossName,
  type TrainBatch,
} from '../engine.ts';
import {
  flagField,
  numberField,
  objectField,
  optionalIntegerField,
  optionalObjectField,
  optionalTextField,
} from './json-fields.ts';
import type { TinkerDatum, TinkerTensor, TinkerTrainRequest } from './train-request.ts';

const MAX_DATA = 1024;
const MAX_TOKENS = 1_048_576;
const INPUTS = ['target_tokens', 'weights', 'advantages', 'logprobs'];

/** The engine's input. Throws an EngineError for an invalid request. */
export function toBatch(request: TinkerTrainRequest, model: EngineModel): TrainBatch {
  const loss = LOSSES.find((name) => name === request.loss);
  if (loss === undefined) {
    throw new EngineError(
      `The loss "${request.loss.slice(0, 64)}" is not supported; the losses are ${LOSSES.join(', ')}.`,
    );
  }
  if (request.data.length === 0) throw new EngineError('The request has no data.');
  if (request.data.length > MAX_DATA)
    throw new EngineError(`${request.data.length} data exceed the limit of ${MAX_DATA} per request.`);
  const tokens = request.data.reduce((sum, datum) => sum + datum.tokens.length, 0);
  if (tokens > MAX_TOKENS)
    throw new EngineError(`${tokens} tokens exceed the limit of ${MAX_TOKENS} per request.`);
  const clip = clipOf(request, loss);
  const data = request.data.map((datum, i) => toDatum(datum, `data[${i}]`, loss, model));
  return { loss, data, ...(clip === undefined ? {} : { clip }) };
}

function clipOf({ config }: TinkerTrainRequest, loss: LossName): TrainBatch['clip'] {
  const isClipped = loss === 'ppo' || loss === 'cispo';
  const numbers = { clip_low_threshold: 0.8, clip_high_threshold: 1.2 };
  for (const [name, value] of config) {
    if (!isClipped || !(name === 'clip_low_threshold' || name === 'clip_high_threshold'))
      throw new EngineError(`The loss ${loss} has no setting "${name.slice(0, 64)}".`);
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw new EngineError(`${name} must be a number of at least 0.`);
    numbers[name] = value;
  }
  const { clip_low_threshold: low, clip_high_threshold: high } = numbers;
  if (low > high) throw new EngineError('clip_low_threshold must not be above clip_high_threshold.');
  return isClipped ? { low, high } : undefined;
}

function toDatum(datum: TinkerDatum, place: string, loss: LossName, model: EngineModel): Datum {
  const { tokens, inputs, foreign } = datum;
  const [kind] = foreign;
  if (kind !== undefined)
    throw new EngineError(`${place}: this model reads tokens, not ${kind.slice(0, 64)}.`);
  if (tokens.length === 0) throw new EngineError(`${place} has no tokens.`);
  if (tokens.length > model.contextLength)
    throw new EngineError(`${place} has ${tokens.length} tokens; the model reads ${model.contextLength}.`);
  for (const name of inputs.keys()) {
    if (!INPUTS.includes(name))
      throw new EngineError(
        `${place}: "${name.slice(0, 64)}" is not a supported input; the inputs are ${INPUTS.join(', ')}.`,
      );
  }
  checkTokenIds(tokens, `${place}.model_input`, model);
  const targets = inputs.get('target_tokens');
  if (targets === undefined) throw new EngineError(`${place} needs target_tokens.`);
  const row = rowOf(targets, `${place}.target_tokens`, tokens.length);
  if (targets.dtype !== 'int64') throw new EngineError(`${place}.target_tokens must be int64.`);
  checkTokenIds(row, `${place}.target_tokens`, model);

  const floats = (name: string, isNeeded: boolean): Float32Array | undefined => {
    const tensor = inputs.get(name);
    if (tensor === undefined && !isNeeded) return undefined;
    if (tensor === undefined) throw new EngineError(`${place} needs ${name} for the loss ${loss}.`);
    const values = Float32Array.from(rowOf(tensor, `${place}.${name}`, tokens.length));
    if (!values.every(Number.isFinite))
      throw new EngineError(`${place}.${name} has a value that is not finite.`);
    return values;
  };
  const isPolicy = loss !== 'cross_entropy';
  const weights = floats('weights', false);
  const advantages = floats('advantages', isPolicy);
  const logprobs = floats('logprobs', isPolicy);
  return {
    tokens,
    targets: Int32Array.from(row),
    ...(weights === undefined ? {} : { weights }),
    ...(advantages === undefined || !isPolicy ? {} : { advantages }),
    ...(logprobs === undefined || !isPolicy ? {} : { logprobs }),
  };
}

function rowOf(tensor: TinkerTensor, place: string, length: number): Float32Array | Float64Array {
  if (tensor.dtype === 'sparse')
    throw new EngineError(`${place} is sparse; send it dense with one dimension.`);
  if (tensor.shape.length !== 1 || tensor.data.length !== length) {
    throw new EngineError(`${place} has shape [${tensor.shape.slice(0, 8)}]; the input has [${length}].`);
  }
  return tensor.data;
}

/** Throws an EngineError for a token outside of the vocabulary. */
export function checkTokenIds(tokens: Iterable<number>, place: string, { vocabulary }: EngineModel): void {
  for (const token of tokens) {
    if (token < 0 || token >= vocabulary)
      throw new EngineError(`${place} has the token ${token}; the vocabulary has ${vocabulary}.`);
  }
}

/** The body of an optim_step, with the protocol's defaults. Throws an EngineError for numbers that Adam cannot use. */
export function decodeAdamParams(body: JsonObject): AdamParams {
  const other = optionalObjectField(body, 'optimizer_params');
  if (other !== undefined) {
    throw new EngineError(
      `The optimizer "${optionalTextField(other, 'type')?.slice(0, 64)}" is not supported; use Adam.`,
    );
  }
  const given = objectField(body, 'adam_params');
  const params: AdamParams = {
    learningRate: numberField(given, 'learning_rate', 1e-4),
    beta1: numberField(given, 'beta1', 0.9),
    beta2: numberField(given, 'beta2', 0.95),
    eps: numberField(given, 'eps', 1e-12),
    weightDecay: numberField(given, 'weight_decay', 0),
    gradClipNorm: numberField(given, 'grad_clip_norm', 0),
  };
  if (!Object.values(params).every((value: number) => Number.isFinite(value) && value >= 0))
    throw new EngineError('The parameters of Adam must be finite and not negative.');
  if (params.beta1 >= 1 || params.beta2 >= 1) throw new EngineError('beta1 and beta2 must be below 1.');
  return params;
}

const DEFAULT_RANK = 32;
const MAX_RANK = 256;

/** The protocol has no alpha: it equals the rank, so that the scale alpha / rank is 1. */
export function decodeLoraConfig(body: JsonObject, seed: number): LoraOptions {
  const config = optionalObjectField(body, 'lora_config') ?? {};
  const rank = optionalIntegerField(config, 'rank') ?? DEFAULT_RANK;
  if (rank < 1 || rank > MAX_RANK) throw new EngineError(`rank must be from 1 to ${MAX_RANK}.`);
  const attention = flagField(config, 'train_attn', true);
  const mlp = flagField(config, 'train_mlp', true);
  if (!attention && !mlp)
    throw new EngineError(
      'Nothing to train: train_attn and train_mlp are both false, and the output layer has no adapter.',
    );
  return { rank, alpha: rank, seed: (optionalIntegerField(config, 'seed') ?? seed) >>> 0, attention, mlp };
}
