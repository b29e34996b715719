import { optionalIntegerAt, textAt } from '../tinker/json-fields.ts';
import { toTinkerPath } from '../tinker/tinker-path.ts';
import { type Checkpoint, findCheckpoint } from './checkpoints.ts';
import { parseBody } from './job.ts';
import type { ModelCard } from './model-card.ts';
import { Refusal } from './refusal.ts';
import { type Call, NO_CONTENT, ok, type Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';

const RUNS = '/api/v1/training_runs';
const TYPES = { weights: 'training', sampler_weights: 'sampler', external_weights: 'external' } as const;

/** Lists and changes runs and checkpoints. */
export function createRunRoutes(parts: ServerParts): readonly Route[] {
  const { checkpoints, engine, models } = parts;
  const runJson = (card: ModelCard) => {
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
  };

  return [
    {
      method: 'POST',
      path: '/api/v1/weights_info',
      answer: ({ bytes }) => {
        const { lora } = findCheckpoint(textAt(parseBody(bytes), 'tinker_path'), checkpoints);
        return ok({
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
      answer: ({ query }) => {
        const { page, cursor } = paged(models.runs(), query, 20);
        return ok({ training_runs: page.map(runJson), cursor });
      },
    },
    {
      method: 'GET',
      path: `${RUNS}/:run`,
      answer: ({ params: [run = ''] }) => {
        const card = models.runs().find(({ id }) => id === run);
        if (card === undefined) throw new Refusal(404, `Training run ${run.slice(0, 100)} does not exist.`);
        return ok(runJson(card));
      },
    },
    {
      method: 'GET',
      path: `${RUNS}/:run/checkpoints`,
      answer: ({ params: [run = ''] }) => {
        if (!models.runs().some(({ id }) => id === run))
          throw new Refusal(404, `Training run ${run.slice(0, 100)} does not exist.`);
        return ok({ checkpoints: checkpoints.list(run).map(checkpointJson) });
      },
    },
    {
      method: 'GET',
      path: '/api/v1/checkpoints',
      answer: ({ query }) => {
        const { page, cursor } = paged(checkpoints.list(), query, 100);
        return ok({ checkpoints: page.map(checkpointJson), cursor });
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
        const seconds = optionalIntegerAt(parseBody(call.bytes), 'ttl_seconds');
        if (seconds !== undefined && seconds <= 0) throw new Refusal(422, 'ttl_seconds must be positive.');
        await checkpoints.expireIn(checkpointAt(call, parts), seconds);
        return NO_CONTENT;
      },
    },
  ];
}

/** The checkpoint of a path with run, kind and name. Throws a Refusal (404). */
export function checkpointAt(
  { params: [run = '', kind = '', name = ''] }: Call,
  { checkpoints }: ServerParts,
): Checkpoint {
  const checkpoint = checkpoints.find(`tinker://${run}/${kind}/${name}`);
  if (checkpoint === undefined)
    throw new Refusal(404, `Checkpoint ${kind}/${name} does not exist in this run.`);
  return checkpoint;
}

function checkpointJson(checkpoint: Checkpoint) {
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
      throw new Refusal(422, `${name} must be an integer of at least 0.`);
    return value;
  };
  const limit = Math.min(numberIn('limit', usual), 1000);
  const offset = numberIn('offset', 0);
  return { page: all.slice(offset, offset + limit), cursor: { offset, limit, total_count: all.length } };
}
