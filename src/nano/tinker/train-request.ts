import { readInt32s, toBytes } from '../../base/little-endian.ts';
import {
  createProtobufWriter,
  type ProtobufField,
  protobufBytes,
  protobufDouble,
  protobufEntry,
  protobufFields,
  protobufInteger,
  protobufText,
} from '../../base/protobuf.ts';
import { asObject, isObject, type Json, type JsonObject } from '../../core/json.ts';
import {
  listAt,
  objectAt,
  optionalIntegerAt,
  optionalObjectAt,
  optionalTextAt,
  textAt,
} from './json-fields.ts';
import { ProtocolError } from './protocol-error.ts';
import { decodeJsonTensor, decodeTensor, encodeTensor, type Tensor } from './tensor.ts';

/** A forward or forward_backward as a client sent it, before it is validated for the engine. */
export interface TrainRequest {
  readonly modelId: string;
  /** Undefined when the client does not number its requests. */
  readonly seqId: number | undefined;
  readonly loss: string;
  readonly config: ReadonlyMap<string, number | string>;
  readonly forwardOnly: boolean;
  readonly data: readonly TrainDatum[];
}

export interface TrainDatum {
  readonly tokens: Int32Array;
  /** The kinds of other inputs, such as images: decoded so that they can be rejected with a clear message. */
  readonly foreign: readonly string[];
  readonly inputs: ReadonlyMap<string, Tensor>;
}

const CHUNK_KINDS = ['', 'encoded_text', 'image', 'dmel'];

export function decodeTrainRequest(message: Uint8Array): TrainRequest {
  let modelId = '';
  let seqId = 0;
  let loss = '';
  let forwardOnly = false;
  const data: TrainDatum[] = [];
  const config = new Map<string, number | string>();
  for (const field of protobufFields(message)) {
    if (field.number === 1) modelId = protobufText(field);
    else if (field.number === 2) seqId = protobufInteger(field);
    else if (field.number === 3) data.push(decodeDatum(protobufBytes(field)));
    else if (field.number === 4) loss = protobufText(field);
    else if (field.number === 5) {
      const { key, value } = protobufEntry(field);
      config.set(key, value === undefined ? 0 : protobufDouble(value));
    } else if (field.number === 6) forwardOnly = protobufInteger(field) !== 0;
    else if (field.number === 7) {
      const { key, value } = protobufEntry(field);
      config.set(key, value === undefined ? 0 : configValueOf(value));
    }
  }
  return { modelId, seqId: seqId === 0 ? undefined : seqId, loss, config, forwardOnly, data };
}

/** A number or a text, in the map that newer clients write in addition to the old one. */
function configValueOf(field: ProtobufField): number | string {
  let value: number | string = 0;
  for (const part of protobufFields(protobufBytes(field))) {
    if (part.number === 1) value = protobufDouble(part);
    else if (part.number === 2) value = protobufText(part);
  }
  return value;
}

function decodeDatum(message: Uint8Array): TrainDatum {
  const pieces: Int32Array[] = [];
  const foreign: string[] = [];
  const inputs = new Map<string, Tensor>();
  for (const field of protobufFields(message)) {
    if (field.number === 1) {
      for (const chunk of protobufFields(protobufBytes(field))) {
        if (chunk.number !== 1) foreign.push(CHUNK_KINDS[chunk.number] ?? 'unknown');
        else
          for (const part of protobufFields(protobufBytes(chunk)))
            if (part.number === 1) pieces.push(readInt32s(protobufBytes(part)));
      }
    } else if (field.number === 2) {
      const { key, value } = protobufEntry(field);
      inputs.set(key, decodeTensor(value === undefined ? new Uint8Array(0) : protobufBytes(value)));
    }
  }
  return { tokens: joinTokens(pieces), foreign, inputs };
}

export function encodeTrainRequest(request: TrainRequest): Uint8Array {
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

/** The JSON of /forward and /forward_backward, which differ in the name of one member. */
export function decodeJsonTrainRequest(body: JsonObject, forwardOnly: boolean): TrainRequest {
  const input = objectAt(body, forwardOnly ? 'forward_input' : 'forward_backward_input');
  const config = new Map<string, number | string>();
  for (const [name, value] of Object.entries(optionalObjectAt(input, 'loss_fn_config') ?? {})) {
    if (typeof value !== 'number' && typeof value !== 'string')
      throw new ProtocolError(`loss_fn_config.${name} must be a number`, 422);
    config.set(name, value);
  }
  return {
    modelId: textAt(body, 'model_id'),
    seqId: optionalIntegerAt(body, 'seq_id'),
    loss: textAt(input, 'loss_fn'),
    config,
    forwardOnly,
    data: listAt(input, 'data').map((datum) => {
      const inputs = new Map<string, Tensor>();
      for (const [name, value] of Object.entries(objectAt(asObject(datum), 'loss_fn_inputs')))
        inputs.set(name, decodeJsonTensor(value, name));
      return { ...decodeModelInput(asObject(datum).model_input, 'model_input'), inputs };
    }),
  };
}

/** `{chunks: [{type, tokens}]}`, for data and prompts. */
export function decodeModelInput(
  value: Json | undefined,
  name: string,
): { readonly tokens: Int32Array; readonly foreign: readonly string[] } {
  if (!isObject(value)) throw new ProtocolError(`${name} must be an object with chunks`, 422);
  const pieces: Int32Array[] = [];
  const foreign: string[] = [];
  for (const chunk of listAt(value, 'chunks')) {
    if (!isObject(chunk)) throw new ProtocolError(`${name}.chunks must hold objects`, 422);
    const type = optionalTextAt(chunk, 'type') ?? 'encoded_text';
    if (type !== 'encoded_text') foreign.push(type);
    else
      pieces.push(
        Int32Array.from(listAt(chunk, 'tokens'), (token) => {
          if (typeof token === 'number' && token === (token | 0)) return token;
          throw new ProtocolError(`${name} must hold token ids`, 422);
        }),
      );
  }
  return { tokens: joinTokens(pieces), foreign };
}

function joinTokens(pieces: readonly Int32Array[]): Int32Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const tokens = new Int32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    tokens.set(piece, at);
    at += piece.length;
  }
  return tokens;
}
