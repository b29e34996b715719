import { DecodeError } from '../../base/decode-error.ts';
import { readFloat32s, readInt32s } from '../../base/little-endian.ts';
import { protobufBytes, protobufFields, protobufInteger } from '../../base/protobuf.ts';
import { asArray, asNumber, asObject, isObject, parseJson } from '../../core/json.ts';
import type { SampledSequence } from '../../core/training.ts';

/** A SampleResponse in protobuf. Throws a DecodeError. */
export function decodeProtoSample(message: Uint8Array): readonly SampledSequence[] {
  const sequences: SampledSequence[] = [];
  for (const field of protobufFields(message))
    if (field.number === 1) sequences.push(decodeSequence(protobufBytes(field)));
  return sequences;
}

function decodeSequence(message: Uint8Array): SampledSequence {
  let stop = 0;
  let tokens: readonly number[] = [];
  let logprobs: readonly number[] | undefined;
  for (const field of protobufFields(message)) {
    if (field.number === 1) stop = protobufInteger(field);
    else if (field.number === 2) tokens = Array.from(readInt32s(protobufBytes(field)));
    else if (field.number === 3) logprobs = Array.from(readFloat32s(protobufBytes(field)));
  }
  return checked(tokens, logprobs, stop === 1 ? 'length' : 'stop');
}

/** A SampleResponse in JSON. */
export function decodeJsonSample(bytes: Uint8Array): readonly SampledSequence[] {
  const body = parseJson(Buffer.from(bytes).toString('utf8'));
  if (!isObject(body) || !Array.isArray(body.sequences)) throw new DecodeError('the answer has no sequences');
  return asArray(body.sequences).map((value) => {
    const sequence = asObject(value);
    const tokens = asArray(sequence.tokens).map((token) => asNumber(token) ?? Number.NaN);
    const logprobs = Array.isArray(sequence.logprobs)
      ? asArray(sequence.logprobs).map((one) => asNumber(one) ?? Number.NaN)
      : undefined;
    return checked(tokens, logprobs, sequence.stop_reason === 'length' ? 'length' : 'stop');
  });
}

/** A sample without the sampler's log-probabilities cannot be trained on: it is refused. */
function checked(
  tokens: readonly number[],
  logprobs: readonly number[] | undefined,
  stop: SampledSequence['stop'],
): SampledSequence {
  if (!tokens.every((token) => Number.isInteger(token) && token >= 0))
    throw new DecodeError('a sample has tokens that are not ids');
  if (logprobs === undefined && tokens.length > 0)
    throw new DecodeError('a sample came without log-probabilities');
  const given = logprobs ?? [];
  if (given.length !== tokens.length)
    throw new DecodeError(`a sample has ${tokens.length} tokens and ${given.length} log-probabilities`);
  return { tokens, logprobs: given, stop };
}
