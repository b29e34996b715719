import { type Engine, EngineError } from '../engine.ts';
import { decodeAdamParams } from '../tinker/adam-params.ts';
import {
  flagAt,
  optionalIntegerAt,
  optionalObjectAt,
  optionalTextAt,
  textAt,
} from '../tinker/json-fields.ts';
import { type CheckpointKind, toTinkerPath } from '../tinker/tinker-path.ts';
import { toBatch } from '../tinker/to-batch.ts';
import { type Checkpoints, findCheckpoint, loadCheckpoint, type ModelState } from './checkpoints.ts';
import type { Job } from './job.ts';
import type { ModelCard } from './model-card.ts';
import type { Outcome } from './outcome.ts';
import type { Samplers } from './samplers.ts';

export interface Applied {
  readonly outcome: Exclude<Outcome, { kind: 'sample' }>;
  readonly state: ModelState;
}

export interface Tools {
  readonly engine: Engine;
  readonly checkpoints: Checkpoints;
  readonly samplers: Samplers;
}

/** Carries out one request. Throws when that fails; the state is then unchanged. */
export async function applyJob(
  job: Job,
  seq: number,
  card: ModelCard,
  state: ModelState,
  tools: Tools,
): Promise<Applied> {
  const { engine } = tools;
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
    const checkpoint = findCheckpoint(textAt(body, 'path'), tools.checkpoints);
    const loaded = await loadCheckpoint(checkpoint, flagAt(body, 'optimizer', false), tools);
    await engine.dispose(state.adapter);
    const { id } = card;
    return {
      outcome: { kind: 'json', body: { type: 'load_weights', path: textAt(body, 'path'), model_id: id } },
      state: loaded,
    };
  }
  return { outcome: { kind: 'json', body: await saveAs(job, seq, card, state, tools) }, state };
}

async function saveAs(job: Job, seq: number, card: ModelCard, state: ModelState, tools: Tools) {
  const { engine, checkpoints, samplers } = tools;
  const { body } = job;
  const kind: CheckpointKind =
    job.kind === 'save_weights'
      ? 'weights'
      : job.kind === 'save_weights_external'
        ? 'external_weights'
        : 'sampler_weights';
  const given = optionalTextAt(body, 'path');
  const isTemporary = kind === 'sampler_weights' && given === undefined;
  const encryption = body.age_encryption_recipients ?? undefined;
  if (encryption !== undefined) throw new EngineError('Encrypted exports are not supported.');
  const ttlSeconds = optionalIntegerAt(body, 'ttl_seconds');
  if (ttlSeconds !== undefined && ttlSeconds <= 0) throw new EngineError('ttl_seconds must be positive.');
  const checkpoint = await checkpoints.save(
    {
      run: card.id,
      kind,
      name: given ?? `${isTemporary ? 'passing' : 'seq'}-${String(seq).padStart(6, '0')}`,
      seq,
      lora: state.lora,
      isPassing: isTemporary,
      metadata: optionalObjectAt(body, 'user_metadata'),
      ttlSeconds,
      overwrite: flagAt(body, 'overwrite', false),
    },
    await engine.save(state.adapter, kind === 'weights'),
  );
  const path = toTinkerPath(checkpoint);
  if (kind === 'sampler_weights') await samplers.keepFrozen(path, await engine.freeze(state.adapter));
  if (!isTemporary) return { type: job.kind, path };
  const sampler = await samplers.create({
    session: card.session,
    number: optionalIntegerAt(body, 'sampling_session_seq_id'),
    path,
  });
  return { type: job.kind, sampling_session_id: sampler.id };
}
