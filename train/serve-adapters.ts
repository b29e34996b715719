import type { Log } from '../src/base/log.ts';
import { sleep } from '../src/base/sleep.ts';
import type { ChatModel } from '../src/core/chat.ts';
import type { Clock } from '../src/core/clock.ts';
import type { Failure } from '../src/core/failure.ts';
import { TrainingError } from '../src/core/training.ts';
import type { Exchange } from '../src/core/upstream.ts';
import { createVllmServing, type VllmServing } from '../src/models/vllm-serving.ts';
import type { RetryOptions } from '../src/models/with-retry.ts';
import { type AdapterFolders, createAdapterFolders } from './adapter-folders.ts';
import type { ExternalWeights } from './promotion-log.ts';
import { canaryOf, type PolicyVersion, type PromotionState } from './promotion-stages.ts';
import type { PolicyEngine, TrainSettings } from './training-plan.ts';

export interface ServeAdaptersOptions {
  readonly settings: TrainSettings;
  readonly engine: PolicyEngine;
  readonly home: { readonly dir: string };
  readonly env: NodeJS.ProcessEnv;
  readonly upstream: { readonly exchange: Exchange; readonly retry: RetryOptions };
  readonly clock: Clock;
  readonly log: Log;
}

/** The adapters of the live, the previous and the trial version as folders, and the server that answers with them, if any. */
export interface ServedAdapters extends ExternalWeights {
  /** Answers a turn with the first version that can. Undefined when the engine itself answers. */
  readonly chat:
    | ((
        wanted: readonly PolicyVersion[],
        answered: (by: PolicyVersion, why: Failure | undefined) => void,
      ) => ChatModel)
    | undefined;
  close(): Promise<void>;
}

const GRACE_MS = 1_000;

export function serveAdapters(options: ServeAdaptersOptions): ServedAdapters {
  const { settings, log } = options;
  const closing = new AbortController();
  const folders = createAdapterFolders(options);
  let last: Promise<void> = Promise.resolve();
  /** Runs after the move, one job at a time; nobody waits for it. */
  const later = (work: () => Promise<void>): void => {
    last = last.then(work).catch((error: unknown) => {
      if (!closing.signal.aborted) log.warn({ err: error }, 'an adapter could not be exported or removed');
    });
  };
  const close = async (): Promise<void> => {
    closing.abort();
    // Do not wait for a server that does not answer.
    const late = new AbortController();
    await Promise.race([last, sleep(GRACE_MS, late.signal)]);
    late.abort();
  };
  const vllm = settings.serve && openVllm(options, settings.serve, folders, closing.signal);
  if (vllm === undefined)
    return {
      chat: undefined,
      prepare: async () => undefined,
      moved: (now) =>
        later(async () => {
          await folders.keepOnly(versionsOf(now));
          for (const served of servingOf(now))
            if (served.sampler !== undefined) await folders.bring(served, closing.signal);
        }),
      close,
    };

  let versions: readonly number[] | undefined;
  const sweep = (): void =>
    later(async () => {
      if (versions === undefined) return;
      // A folder stays while a turn uses its adapter: vLLM may read it again.
      const held = await vllm.keepOnly(versions);
      if (!closing.signal.aborted) await folders.keepOnly([...versions, ...held]);
    });
  return {
    chat: (wanted, answered) => {
      const model = vllm.chat(wanted, answered);
      return (request, given) => ({
        async *[Symbol.asyncIterator]() {
          try {
            yield* model(request, given);
          } finally {
            if (wanted.some(({ version }) => versions?.includes(version) === false)) sweep();
          }
        },
      });
    },
    prepare: async (next, now) => {
      const isBack = next.live.version < now.live.version;
      for (const served of newIn(next, now)) {
        // A promotion asks the server; a rollback must also work while it is unreachable.
        if (isBack && vllm.isAtHand(served)) continue;
        const failure = await vllm.load(served);
        if (failure !== undefined)
          throw new TrainingError(
            'server',
            `version ${served.version} cannot serve, and nothing was changed: ${failure.message}`,
          );
      }
    },
    moved: (now) => {
      versions = versionsOf(now);
      sweep();
    },
    close,
  };
}

const servingOf = (state: PromotionState): readonly PolicyVersion[] => {
  const canary = canaryOf(state);
  return canary === undefined ? [state.live] : [state.live, canary.served];
};

/** The versions that start to serve with this move. */
function newIn(next: PromotionState, now: PromotionState): readonly PolicyVersion[] {
  const live = next.live.version === now.live.version ? [] : [next.live];
  const canary = canaryOf(next)?.served;
  const isNew = canary !== undefined && canary.version !== canaryOf(now)?.served.version;
  return isNew ? [...live, canary] : live;
}

const versionsOf = ({ live, previous, trial, waiting }: PromotionState): readonly number[] =>
  [live, previous, trial?.served, waiting?.served].flatMap((served) =>
    served === undefined ? [] : [served.version],
  );

function openVllm(
  { settings, engine, home, env, upstream, clock, log }: ServeAdaptersOptions,
  { vllm: baseUrl, keyEnv, model }: NonNullable<TrainSettings['serve']>,
  folders: AdapterFolders,
  closing: AbortSignal,
): VllmServing {
  const trained = async (): Promise<string> =>
    typeof settings.engine === 'object' ? settings.engine.baseModel : (await engine.place()).engine.baseModel;
  return createVllmServing({
    baseUrl,
    key: () => (keyEnv === undefined ? undefined : env[keyEnv]?.trim() || undefined),
    baseModel: model === undefined ? trained : async () => model,
    name: engine.name,
    installation: home.dir,
    folders,
    ...upstream,
    clock,
    log: (line) => log.warn(line),
    closing,
  });
}
