import { readFloat32s, readInt32s, toBytes } from '../../base/little-endian.ts';
import { createProtobufWriter, protobufBytes, protobufFields, protobufInteger } from '../../base/protobuf.ts';
import type { JsonObject } from '../../core/json.ts';
import type { SampleResult, Sequence } from '../engine.ts';
import { ProtocolError } from './protocol-error.ts';

const STOP_REASONS = ['stop', 'length'] as const;

/** A SampleResponse. A prompt token without a log-probability has NaN. */
export function encodeSampleOutput({ sequences, promptLogprobs }: SampleResult): Uint8Array {
  const writer = createProtobufWriter();
  for (const { tokens, logprobs, stop } of sequences) {
    const sequence = createProtobufWriter();
    sequence.integer(1, STOP_REASONS.indexOf(stop));
    sequence.bytes(2, toBytes(tokens));
    sequence.message(3, toBytes(logprobs));
    writer.message(1, sequence.finish());
  }
  if (promptLogprobs !== undefined) writer.message(2, toBytes(promptLogprobs));
  return writer.finish();
}

export function decodeSampleOutput(message: Uint8Array): SampleResult {
  const sequences: Sequence[] = [];
  let promptLogprobs: Float32Array | undefined;
  for (const field of protobufFields(message)) {
    if (field.number === 1) sequences.push(decodeSequence(protobufBytes(field)));
    else if (field.number === 2) promptLogprobs = readFloat32s(protobufBytes(field));
  }
  return { sequences, ...(promptLogprobs === undefined ? {} : { promptLogprobs }) };
}

function decodeSequence(message: Uint8Array): Sequence {
  let tokens: Int32Array = new Int32Array(0);
  let logprobs: Float32Array = new Float32Array(0);
  let reason = 0;
  for (const field of protobufFields(message)) {
    if (field.number === 1) reason = protobufInteger(field);
    else if (field.number === 2) tokens = readInt32s(protobufBytes(field));
    else if (field.number === 3) logprobs = readFloat32s(protobufBytes(field));
  }
  const stop = STOP_REASONS[reason];
  if (stop === undefined) throw new ProtocolError(`${reason} is not a stop reason`);
  return { tokens, logprobs, stop };
}

export function encodeJsonSampleOutput({ sequences, promptLogprobs }: SampleResult): JsonObject {
  return {
    type: 'sample',
    sequences: sequences.map(({ tokens, logprobs, stop }) => ({
      stop_reason: stop,
      tokens: Array.from(tokens),
      logprobs: Array.from(logprobs),
    })),
    ...(promptLogprobs === undefined
      ? {}
      : { prompt_logprobs: Array.from(promptLogprobs, (value) => (Number.isNaN(value) ? null : value)) }),
    prompt_cache_hit_tokens: 0,
  };
}
