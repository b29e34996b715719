import { asArray, asNumber, asObject, isObject, parseJson } from '../../core/json.ts';
import type { SampledSequence } from '../../core/training.ts';
import { bytesIn, integerIn, readFields } from './proto-read.ts';
import { float32sIn, int32sIn } from './raw-values.ts';
import { WireError } from './wire-error.ts';

/** A SampleResponse in protobuf. Throws a WireError. */
export function decodeProtoSample(message: Uint8Array): readonly SampledSequence[] {
  const sequences: SampledSequence[] = [];
  for (const field of readFields(message))
    if (field.number === 1) sequences.push(decodeSequence(bytesIn(field)));
  return sequences;
}

function decodeSequence(message: Uint8Array): SampledSequence {
  let stop = 0;
  let tokens: readonly number[] = [];
  let logprobs: readonly number[] | undefined;
  for (const field of readFields(message)) {
    if (field.number === 1) stop = integerIn(field);
    else if (field.number === 2) tokens = int32sIn(bytesIn(field));
    else if (field.number === 3) logprobs = float32sIn(bytesIn(field));
  }
  return checked(tokens, logprobs, stop === 1 ? 'length' : 'stop');
}

/** The same in JSON. */
export function decodeJsonSample(bytes: Uint8Array): readonly SampledSequence[] {
  const body = parseJson(Buffer.from(bytes).toString('utf8'));
  if (!isObject(body) || !Array.isArray(body.sequences)) throw new WireError('the answer has no sequences');
  return asArray(body.sequences).map((value) => {
    const sequence = asObject(value);
    const tokens = asArray(sequence.tokens).map((token) => asNumber(token) ?? Number.NaN);
    const logprobs = Array.isArray(sequence.logprobs)
      ? asArray(sequence.logprobs).map((one) => asNumber(one) ?? Number.NaN)
      : undefined;
    return checked(tokens, logprobs, sequence.stop_reason === 'length' ? 'length' : 'stop');
  });
}

/** Without the sampler's own log-probabilities nothing can be learned from a sample, and none may be made up. */
function checked(
  tokens: readonly number[],
  logprobs: readonly number[] | undefined,
  stop: SampledSequence['stop'],
): SampledSequence {
  if (!tokens.every((token) => Number.isInteger(token) && token >= 0))
    throw new WireError('a sample has tokens that are no ids');
  if (logprobs === undefined && tokens.length > 0)
    throw new WireError('a sample came without log-probabilities');
  const given = logprobs ?? [];
  if (given.length !== tokens.length)
    throw new WireError(`a sample has ${tokens.length} tokens and ${given.length} log-probabilities`);
  return { tokens, logprobs: given, stop };
}
