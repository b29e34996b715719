import type { JsonObject } from '../../core/json.ts';
import type { SampleResult, Sequence } from '../engine.ts';
import { bytesOf, fieldsOf, integerOf } from './proto-reader.ts';
import { createProtoWriter, rawBytes } from './proto-writer.ts';
import { ProtocolError } from './protocol-error.ts';
import { float32sOf, int32sOf } from './raw-numbers.ts';

const STOP_REASONS = ['stop', 'length'] as const;

/** A SampleResponse. A prompt token without a log-probability has NaN. */
export function encodeSampleOutput({ sequences, promptLogprobs }: SampleResult): Uint8Array {
  const writer = createProtoWriter();
  for (const { tokens, logprobs, stop } of sequences) {
    const sequence = createProtoWriter();
    sequence.integer(1, STOP_REASONS.indexOf(stop));
    sequence.bytes(2, rawBytes(tokens));
    sequence.message(3, rawBytes(logprobs));
    writer.message(1, sequence.finish());
  }
  if (promptLogprobs !== undefined) writer.message(2, rawBytes(promptLogprobs));
  return writer.finish();
}

export function decodeSampleOutput(message: Uint8Array): SampleResult {
  const sequences: Sequence[] = [];
  let promptLogprobs: Float32Array | undefined;
  for (const field of fieldsOf(message)) {
    if (field.number === 1) sequences.push(decodeSequence(bytesOf(field)));
    else if (field.number === 2) promptLogprobs = float32sOf(bytesOf(field));
  }
  return { sequences, ...(promptLogprobs === undefined ? {} : { promptLogprobs }) };
}

function decodeSequence(message: Uint8Array): Sequence {
  let tokens: Int32Array = new Int32Array(0);
  let logprobs: Float32Array = new Float32Array(0);
  let reason = 0;
  for (const field of fieldsOf(message)) {
    if (field.number === 1) reason = integerOf(field);
    else if (field.number === 2) tokens = int32sOf(bytesOf(field));
    else if (field.number === 3) logprobs = float32sOf(bytesOf(field));
  }
  const stop = STOP_REASONS[reason];
  if (stop === undefined) throw new ProtocolError(`${reason} is not a reason to stop`);
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
