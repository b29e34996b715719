import { createHash, type Hash } from 'node:crypto';
import { toBytes } from '../../../src/base/little-endian.ts';
import { isObject, type JsonObject, parseJson } from '../../../src/core/json.ts';
import { type Engine, EngineError } from '../engine.ts';
import { decodeAdamParams, toBatch } from '../tinker/engine-input.ts';
import {
  flagField,
  optionalIntegerField,
  optionalObjectField,
  optionalTextField,
  ProtocolError,
  textField,
} from '../tinker/json-fields.ts';
import {
  decodeJsonTrainRequest,
  decodeTrainRequest,
  type TinkerTrainRequest,
} from '../tinker/train-request.ts';
import {
  type CheckpointKind,
  type CheckpointStore,
  findCheckpoint,
  loadCheckpoint,
  type ModelCard,
  type ModelState,
  toTinkerPath,
} from './checkpoints.ts';
import type { RequestOutcome } from './futures.ts';
import type { SamplingSessions } from './sampling.ts';

/** The requests that a model carries out in order, by the last part of their route. */
export const MODEL_REQUEST_KINDS = [
  'forward',
  'forward_backward',
  'optim_step',
  'save_weights',
  'save_weights_for_sampler',
  'save_weights_external',
  'load_weights',
] as const;
export type ModelRequestKind = (typeof MODEL_REQUEST_KINDS)[number];

/** A decoded request. `bytes` are what the client sent: the journal stores them. */
export interface ModelRequest {
  readonly kind: ModelRequestKind;
  readonly modelId: string;
  readonly seqId: number | undefined;
  /** A fingerprint: equal for equal requests, in whatever encoding they were sent. */
  readonly print: string;
  readonly isProto: boolean;
  readonly bytes: Uint8Array;
  readonly train: TinkerTrainRequest | undefined;
  readonly body: JsonObject;
}

/** Throws a ProtocolError or a DecodeError for an invalid request. */
export function decodeModelRequest(
  kind: ModelRequestKind,
  bytes: Uint8Array,
  isProto: boolean,
): ModelRequest {
  if (kind !== 'forward' && kind !== 'forward_backward') {
    if (isProto) throw new ProtocolError(`${kind} must be sent as JSON`, 415);
    const body = parseBody(bytes);
    const seqId = checkSeq(optionalIntegerField(body, 'seq_id'));
    return {
      kind,
      modelId: textField(body, 'model_id'),
      seqId,
      print: requestFingerprint(kind, body),
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
    print: trainFingerprint(train),
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

export function requestFingerprint(route: string, body: JsonObject): string {
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

function trainFingerprint({ modelId, seqId, loss, config, forwardOnly, data }: TinkerTrainRequest): string {
  const hash = createHash('sha256').update(
    JSON.stringify([modelId, seqId ?? 0, loss, forwardOnly, sorted(config)]),
  );
  for (const { tokens, foreign, inputs } of data) {
    addNumbers(hash, tokens);
    hash.update(JSON.stringify(foreign));
    for (const [name, tensor] of sorted(inputs)) {
      hash.update(`${name}/${tensor.dtype}/`);
      if (tensor.dtype !== 'sparse') addNumbers(hash, tensor.data).update(JSON.stringify(tensor.shape));
    }
  }
  return hash.digest('base64url');
}

const sorted = <T>(map: ReadonlyMap<string, T>): [string, T][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

function addNumbers(hash: Hash, values: Int32Array | Float32Array | Float64Array): Hash {
  hash.update(`${values.length}/`);
  return hash.update(toBytes(values));
}

interface AppliedRequest {
  readonly outcome: Exclude<RequestOutcome, { kind: 'sample' }>;
  readonly state: ModelState;
}

export interface RequestContext {
  readonly engine: Engine;
  readonly checkpoints: CheckpointStore;
  readonly samplers: SamplingSessions;
}

/** What requests to one model use. */
export interface ModelContext extends RequestContext {
  readonly card: ModelCard;
}

/** Carries out one request. Throws when that fails; the state is then unchanged. */
export async function applyModelRequest(
  job: ModelRequest,
  seq: number,
  state: ModelState,
  context: ModelContext,
): Promise<AppliedRequest> {
  const { engine, card, checkpoints } = context;
  const { body, train } = job;
  if (train !== undefined) {
    const batch = toBatch(train, engine.model);
    const result = train.forwardOnly
      ? await engine.forward(state.adapter, batch)
      : await engine.forwardBackward(state.adapter, batch);
    return { outcome: { kind: 'train', result }, state };
  }
  if (job.kind === 'optim_step') {
    const metrics = await engine.optimStep(state.adapter, decodeAdamParams(body));
    return { outcome: { kind: 'json', body: { type: 'optim_step', metrics } }, state };
  }
  if (job.kind === 'load_weights') {
    const path = textField(body, 'path');
    const checkpoint = findCheckpoint(path, checkpoints);
    const loaded = await loadCheckpoint(checkpoint, flagField(body, 'optimizer', false), context);
    await engine.dispose(state.adapter);
    return {
      outcome: { kind: 'json', body: { type: 'load_weights', path, model_id: card.id } },
      state: loaded,
    };
  }
  return { outcome: { kind: 'json', body: await saveAs(job, seq, state, context) }, state };
}

async function saveAs(job: ModelRequest, seq: number, state: ModelState, context: ModelContext) {
  const { engine, card, checkpoints, samplers } = context;
  const { body } = job;
  const kind: CheckpointKind =
    job.kind === 'save_weights'
      ? 'weights'
      : job.kind === 'save_weights_external'
        ? 'external_weights'
        : 'sampler_weights';
  const given = optionalTextField(body, 'path');
  const isTemporary = kind === 'sampler_weights' && given === undefined;
  const encryption = body.age_encryption_recipients ?? undefined;
  if (encryption !== undefined) throw new EngineError('Encrypted exports are not supported.');
  const ttlSeconds = optionalIntegerField(body, 'ttl_seconds');
  if (ttlSeconds !== undefined && ttlSeconds <= 0) throw new EngineError('ttl_seconds must be positive.');
  const checkpoint = await checkpoints.save(
    {
      run: card.id,
      kind,
      name: given ?? `${isTemporary ? 'passing' : 'seq'}-${String(seq).padStart(6, '0')}`,
      seq,
      lora: state.lora,
      isPassing: isTemporary,
      metadata: optionalObjectField(body, 'user_metadata'),
      ttlSeconds,
      overwrite: flagField(body, 'overwrite', false),
    },
    await engine.save(state.adapter, kind === 'weights'),
  );
  const path = toTinkerPath(checkpoint);
  if (kind === 'sampler_weights') await samplers.keepFrozen(path, await engine.freeze(state.adapter));
  if (!isTemporary) return { type: job.kind, path };
  const sampler = await samplers.create({
    session: card.session,
    number: optionalIntegerField(body, 'sampling_session_seq_id'),
    path,
  });
  return { type: job.kind, sampling_session_id: sampler.id };
}
