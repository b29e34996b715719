import type { JsonObject } from '../../core/json.ts';
import { type AdamParams, EngineError } from '../engine.ts';
import { numberAt, objectAt, optionalObjectAt, optionalTextAt } from './json-fields.ts';

/** The body of an optim_step, with the protocol's defaults. Throws an EngineError for numbers that Adam cannot use. */
export function decodeAdamParams(body: JsonObject): AdamParams {
  const other = optionalObjectAt(body, 'optimizer_params');
  if (other !== undefined) {
    throw new EngineError(
      `The optimizer "${optionalTextAt(other, 'type')?.slice(0, 64)}" is not supported; use Adam.`,
    );
  }
  const given = objectAt(body, 'adam_params');
  const params: AdamParams = {
    learningRate: numberAt(given, 'learning_rate', 1e-4),
    beta1: numberAt(given, 'beta1', 0.9),
    beta2: numberAt(given, 'beta2', 0.95),
    eps: numberAt(given, 'eps', 1e-12),
    weightDecay: numberAt(given, 'weight_decay', 0),
    gradClipNorm: numberAt(given, 'grad_clip_norm', 0),
  };
  if (!Object.values(params).every((value: number) => Number.isFinite(value) && value >= 0))
    throw new EngineError('The parameters of Adam must be finite and not negative.');
  if (params.beta1 >= 1 || params.beta2 >= 1) throw new EngineError('beta1 and beta2 must be below 1.');
  return params;
}
