import { createHash, type Hash } from 'node:crypto';
import { toBytes } from '../../base/little-endian.ts';
import { isObject, type JsonObject, parseJson } from '../../core/json.ts';
import { optionalIntegerAt, textAt } from '../tinker/json-fields.ts';
import { ProtocolError } from '../tinker/protocol-error.ts';
import { decodeJsonTrainRequest, decodeTrainRequest, type TrainRequest } from '../tinker/train-request.ts';

/** The requests that a model carries out in order, by the last part of their route. */
export const JOB_KINDS = [
  'forward',
  'forward_backward',
  'optim_step',
  'save_weights',
  'save_weights_for_sampler',
  'save_weights_external',
  'load_weights',
] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** A decoded request. `bytes` are what the client sent: the journal stores them. */
export interface Job {
  readonly kind: JobKind;
  readonly modelId: string;
  readonly seqId: number | undefined;
  /** A fingerprint: equal for equal requests, in whatever encoding they were sent. */
  readonly print: string;
  readonly isProto: boolean;
  readonly bytes: Uint8Array;
  readonly train: TrainRequest | undefined;
  readonly body: JsonObject;
}

/** Throws a ProtocolError or a DecodeError for an invalid request. */
export function readJob(kind: JobKind, bytes: Uint8Array, isProto: boolean): Job {
  if (kind !== 'forward' && kind !== 'forward_backward') {
    if (isProto) throw new ProtocolError(`${kind} must be sent as JSON`, 415);
    const body = parseBody(bytes);
    const seqId = checkSeq(optionalIntegerAt(body, 'seq_id'));
    return {
      kind,
      modelId: textAt(body, 'model_id'),
      seqId,
      print: printOf(kind, body),
      isProto,
      bytes,
      train: undefined,
      body,
    };
  }
  const body = isProto ? {} : parseBody(bytes);
  const train = isProto ? decodeTrainRequest(bytes) : decodeJsonTrainRequest(body, kind === 'forward');
  const { modelId } = train;
  if (modelId === '') throw new ProtocolError('model_id is missing', 422);
  // The JSON body is not kept in addition to its decoded form, since it can be large.
  return {
    kind,
    modelId,
    seqId: checkSeq(train.seqId),
    print: trainPrint(train),
    isProto,
    bytes,
    train,
    body: {},
  };
}

export function parseBody(bytes: Uint8Array): JsonObject {
  const value = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  if (value === undefined) throw new ProtocolError('The body is not JSON.');
  if (!isObject(value)) throw new ProtocolError('The body must be a JSON object.', 422);
  return value;
}

function checkSeq(seqId: number | undefined): number | undefined {
  if (seqId !== undefined && (seqId < 1 || seqId > 2 ** 31))
    throw new ProtocolError('seq_id must be at least 1', 422);
  return seqId;
}

/** A client that retries a save may use a new number for its sampling session: that does not make it another request. */
const IGNORED_MEMBER = 'sampling_session_seq_id';

export function printOf(route: string, body: JsonObject): string {
  return createHash('sha256').update(route).update(canonical(body)).digest('base64url');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([name, member]) => (member ?? undefined) !== undefined && name !== IGNORED_MEMBER)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}

function trainPrint({ modelId, seqId, loss, config, forwardOnly, data }: TrainRequest): string {
  const hash = createHash('sha256').update(
    JSON.stringify([modelId, seqId ?? 0, loss, forwardOnly, sorted(config)]),
  );
  for (const { tokens, foreign, inputs } of data) {
    add(hash, tokens);
    hash.update(JSON.stringify(foreign));
    for (const [name, tensor] of sorted(inputs)) {
      hash.update(`${name}/${tensor.dtype}/`);
      if (tensor.dtype !== 'sparse') add(hash, tensor.data).update(JSON.stringify(tensor.shape));
    }
  }
  return hash.digest('base64url');
}

const sorted = <T>(map: ReadonlyMap<string, T>): [string, T][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

function add(hash: Hash, values: Int32Array | Float32Array | Float64Array): Hash {
  hash.update(`${values.length}/`);
  return hash.update(toBytes(values));
}
