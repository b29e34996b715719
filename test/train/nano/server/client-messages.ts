import { readFloat32s, readInt32s, toBytes } from '../../../../src/base/little-endian.ts';
import {
  createProtobufWriter,
  protobufBytes,
  protobufFields,
  protobufInteger,
} from '../../../../src/base/protobuf.ts';
import type { SampleResult, Sequence } from '../../../../train/nano/engine.ts';
import { ProtocolError } from '../../../../train/nano/tinker/json-fields.ts';
import { STOP_REASONS } from '../../../../train/nano/tinker/output.ts';
import {
  DTYPE,
  type TinkerTensor,
  type TinkerTrainRequest,
} from '../../../../train/nano/tinker/train-request.ts';

/* The client's side of the engine's messages. */

function encodeTensor(tensor: Exclude<TinkerTensor, { dtype: 'sparse' }>): Uint8Array {
  const writer = createProtobufWriter();
  const raw =
    tensor.dtype === 'float32' ? tensor.data : BigInt64Array.from(tensor.data, (value) => BigInt(value));
  writer.message(1, toBytes(raw));
  writer.integer(3, DTYPE[tensor.dtype]);
  writer.packed(4, tensor.shape);
  return writer.finish();
}

export function encodeTrainRequest(request: TinkerTrainRequest): Uint8Array {
  const writer = createProtobufWriter();
  writer.text(1, request.modelId);
  writer.integer(2, request.seqId ?? 0);
  for (const { tokens, inputs } of request.data) {
    const datum = createProtobufWriter();
    const text = createProtobufWriter();
    text.bytes(1, toBytes(tokens));
    const chunk = createProtobufWriter();
    chunk.message(1, text.finish());
    datum.message(1, chunk.finish());
    for (const [name, tensor] of inputs) {
      if (tensor.dtype === 'sparse') throw new TypeError('sparse tensors cannot be encoded');
      datum.entry(2, name, encodeTensor(tensor));
    }
    writer.message(3, datum.finish());
  }
  writer.text(4, request.loss);
  for (const [name, value] of request.config) {
    if (typeof value === 'number') writer.entry(5, name, value);
  }
  writer.integer(6, request.forwardOnly ? 1 : 0);
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
