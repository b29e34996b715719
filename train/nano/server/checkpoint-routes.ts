import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { writeSafetensors } from '../../../src/base/safetensors.ts';
import { createTar, type TarFile } from '../../../src/base/tar.ts';
import { EngineError, type LoraOptions } from '../engine.ts';
import { readEngineTensors } from '../model/decoder-weights.ts';
import { optionalIntegerField, textField } from '../tinker/json-fields.ts';
import { findCheckpoint, type ModelCard, type StoredCheckpoint, toTinkerPath } from './checkpoints.ts';
import { HttpRefusal, NO_CONTENT, okReply, type Route, type RouteCall } from './http.ts';
import { parseBody } from './model-request.ts';
import type { ServerParts } from './server-parts.ts';

const RUNS = '/api/v1/training_runs';
const TYPES = { weights: 'training', sampler_weights: 'sampler', external_weights: 'external' } as const;

function runJson(card: ModelCard, { checkpoints, engine, models }: ServerParts) {
  const saved = checkpoints.list(card.id);
  const model = models.live().find((one) => one.card.id === card.id);
  const newest = (kind: string) => saved.find((one) => one.kind === kind);
  const [training, sampler] = [newest('weights'), newest('sampler_weights')];
  return {
    training_run_id: card.id,
    base_model: engine.model.name,
    model_owner: 'local',
    is_lora: true,
    corrupted: model?.isDamaged ?? false,
    lora_rank: (model?.state?.lora ?? card.lora).rank,
    last_request_time: isoTime(model?.lastUsed ?? saved[0]?.created ?? card.created),
    ...(training === undefined ? {} : { last_checkpoint: checkpointJson(training) }),
    ...(sampler === undefined ? {} : { last_sampler_checkpoint: checkpointJson(sampler) }),
    ...(card.metadata === undefined ? {} : { user_metadata: card.metadata }),
  };
}

/** Lists and changes runs and checkpoints. */
export function createRunRoutes(parts: ServerParts): readonly Route[] {
  const { checkpoints, engine, models } = parts;
  return [
    {
      method: 'POST',
      path: '/api/v1/weights_info',
      answer: async ({ bytes }) => {
        const { lora } = findCheckpoint(textField(parseBody(bytes), 'tinker_path'), checkpoints);
        return okReply({
          base_model: engine.model.name,
          is_lora: true,
          lora_rank: lora.rank,
          train_unembed: false,
          train_mlp: lora.mlp,
          train_attn: lora.attention,
        });
      },
    },
    {
      method: 'GET',
      path: RUNS,
      answer: async ({ query }) => {
        const { page, cursor } = paged(models.runs(), query, 20);
        return okReply({ training_runs: page.map((card) => runJson(card, parts)), cursor });
      },
    },
    {
      method: 'GET',
      path: `${RUNS}/:run`,
      answer: async ({ params: [run = ''] }) => {
        const card = models.runs().find(({ id }) => id === run);
        if (card === undefined)
          throw new HttpRefusal(404, `Training run ${run.slice(0, 100)} does not exist.`);
        return okReply(runJson(card, parts));
      },
    },
    {
      method: 'GET',
      path: `${RUNS}/:run/checkpoints`,
      answer: async ({ params: [run = ''] }) => {
        if (!models.runs().some(({ id }) => id === run))
          throw new HttpRefusal(404, `Training run ${run.slice(0, 100)} does not exist.`);
        return okReply({ checkpoints: checkpoints.list(run).map(checkpointJson) });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/checkpoints',
      answer: async ({ query }) => {
        const { page, cursor } = paged(checkpoints.list(), query, 100);
        return okReply({ checkpoints: page.map(checkpointJson), cursor });
      },
    },
    {
      method: 'DELETE',
      path: `${RUNS}/:run/checkpoints/:kind/:name`,
      answer: async (call) => {
        await checkpoints.remove(checkpointAt(call, parts));
        return NO_CONTENT;
      },
    },
    {
      method: 'PUT',
      path: `${RUNS}/:run/checkpoints/:kind/:name/ttl`,
      answer: async (call) => {
        const seconds = optionalIntegerField(parseBody(call.bytes), 'ttl_seconds');
        if (seconds !== undefined && seconds <= 0)
          throw new HttpRefusal(422, 'ttl_seconds must be positive.');
        await checkpoints.expireIn(checkpointAt(call, parts), seconds);
        return NO_CONTENT;
      },
    },
  ];
}

/** The checkpoint of a path with run, kind and name. Throws a Refusal (404). */
function checkpointAt(
  { params: [run = '', kind = '', name = ''] }: RouteCall,
  { checkpoints }: ServerParts,
): StoredCheckpoint {
  const checkpoint = checkpoints.find(`tinker://${run}/${kind}/${name}`);
  if (checkpoint === undefined)
    throw new HttpRefusal(404, `Checkpoint ${kind}/${name} does not exist in this run.`);
  return checkpoint;
}

function checkpointJson(checkpoint: StoredCheckpoint) {
  const { kind, name, created, size, expires, metadata } = checkpoint;
  return {
    checkpoint_id: `${kind}/${name}`,
    checkpoint_type: TYPES[kind],
    time: isoTime(created),
    tinker_path: toTinkerPath(checkpoint),
    size_bytes: size,
    public: false,
    ...(expires === undefined ? {} : { expires_at: isoTime(expires) }),
    ...(metadata === undefined ? {} : { user_metadata: metadata }),
  };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();

function paged<T>(all: readonly T[], query: URLSearchParams, usual: number) {
  const numberIn = (name: string, fallback: number): number => {
    const value = Number(query.get(name) ?? fallback);
    if (!Number.isSafeInteger(value) || value < 0)
      throw new HttpRefusal(422, `${name} must be an integer of at least 0.`);
    return value;
  };
  const limit = Math.min(numberIn('limit', usual), 1000);
  const offset = numberIn('offset', 0);
  return { page: all.slice(offset, offset + limit), cursor: { offset, limit, total_count: all.length } };
}

const PREFIX = 'base_model.model.';
const ATTENTION = ['q_proj', 'k_proj', 'v_proj', 'o_proj'];
const MLP = ['gate_proj', 'up_proj', 'down_proj'];

/** A saved adapter as the files of a PEFT adapter, without the optimizer. */
function createPeftFiles(saved: Uint8Array, lora: LoraOptions, baseModel: string): readonly TarFile[] {
  const { tensors } = readEngineTensors(saved);
  const factors = new Map([...tensors].filter(([name]) => name.startsWith(PREFIX)));
  if (factors.size === 0) throw new EngineError('This engine does not save adapters in PEFT format.');
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: lora.rank,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    bias: 'none',
    inference_mode: true,
    target_modules: [...(lora.attention ? ATTENTION : []), ...(lora.mlp ? MLP : [])],
  };
  return [
    { name: 'adapter_config.json', bytes: Buffer.from(`${JSON.stringify(config, undefined, 2)}\n`) },
    { name: 'adapter_model.safetensors', bytes: writeSafetensors(factors, { format: 'pt' }) },
  ];
}

const LIFETIME_MS = 15 * 60_000;
const CHECKPOINT = '/api/v1/training_runs/:run/checkpoints/:kind/:name';

/** Downloads of a checkpoint as a PEFT adapter, through signed links that need no key and expire. */
export function createArchiveRoutes(parts: ServerParts): readonly Route[] {
  const { checkpoints, clock, engine } = parts;
  const secret = randomBytes(32);
  const sign = (what: string, expires: number): Buffer =>
    createHmac('sha256', secret).update(`${expires}/${what}`).digest();
  const pathOf = ({ params: [run = '', kind = '', name = ''] }: RouteCall, file: string): string =>
    `${run}/${kind}/${name}/${file}`;
  const link = (call: RouteCall, file: string, expires: number): string => {
    const what = pathOf(call, file);
    const signature = sign(what, expires).toString('base64url');
    return `${call.origin}/api/v1/downloads/${what}?expires=${expires}&signature=${signature}`;
  };
  const filesOf = async (checkpoint: StoredCheckpoint): Promise<readonly TarFile[]> =>
    createPeftFiles(await checkpoints.read(checkpoint), checkpoint.lora, engine.model.name);

  return [
    {
      method: 'GET',
      path: `${CHECKPOINT}/archive`,
      answer: async (call) => {
        checkpointAt(call, parts);
        const expires = clock.now() + LIFETIME_MS;
        const location = link(call, 'adapter.tar.gz', expires);
        return { status: 302, headers: { location, expires: new Date(expires).toUTCString() } };
      },
    },
    {
      method: 'GET',
      path: `${CHECKPOINT}/external_weights_urls`,
      answer: async (call) => {
        const files = await filesOf(checkpointAt(call, parts));
        const expires = clock.now() + LIFETIME_MS;
        const urls = Object.fromEntries(files.map(({ name }) => [name, link(call, name, expires)]));
        return okReply({ urls, expires: new Date(expires).toISOString() });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/downloads/:run/:kind/:name/:file',
      isOpen: true,
      answer: async (call) => {
        const file = call.params[3] ?? '';
        const expires = Number(call.query.get('expires'));
        const given = Buffer.from(call.query.get('signature') ?? '', 'base64url');
        const wanted = sign(pathOf(call, file), expires);
        if (given.length !== wanted.length || !timingSafeEqual(given, wanted) || !(expires > clock.now()))
          throw new HttpRefusal(403, 'This link is invalid or has expired.');
        const checkpoint = checkpointAt(call, parts);
        const files = await filesOf(checkpoint);
        const one = files.find(({ name }) => name === file);
        const bytes =
          one?.bytes ?? (await promisify(gzip)(createTar(files, Math.floor(checkpoint.created / 1000))));
        if (one === undefined && file !== 'adapter.tar.gz') throw new HttpRefusal(404, 'File not found.');
        return { status: 200, body: { type: 'application/octet-stream', bytes } };
      },
    },
  ];
}
