import path from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Engine } from '../engine.ts';
import { openCheckpoints } from './checkpoints.ts';
import { createFutures } from './futures.ts';
import { createKnownKeys } from './known-keys.ts';
import type { Limits } from './limits.ts';
import { openModels } from './models.ts';
import { openSamplers } from './samplers.ts';
import { createSampling } from './sampling.ts';
import type { ServerParts } from './server-parts.ts';
import { openSessions, type Session } from './sessions.ts';

export interface PartsOptions {
  readonly engine: Engine;
  readonly folder: string;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: (line: string) => void;
  readonly endOfText?: readonly number[];
}

/** Reads the folder and creates the server's parts. Expired sessions, checkpoints and results are removed periodically. */
export async function openParts(
  options: PartsOptions,
): Promise<{ readonly parts: ServerParts; close(): Promise<void> }> {
  const { engine, folder, clock, limits, log, endOfText = [] } = options;
  const futures = createFutures(clock, limits);
  const keys = createKnownKeys(limits.kept);
  const sessions = await openSessions(path.join(folder, 'sessions'), clock, limits.sessionMs);
  const checkpoints = await openCheckpoints(path.join(folder, 'checkpoints'), clock, log);
  const samplers = await openSamplers(path.join(folder, 'samplers'), engine, checkpoints);
  const sampling = createSampling({ engine, samplers, futures, limits, endOfText, log });
  const models = await openModels({
    engine,
    checkpoints,
    samplers,
    futures,
    limits,
    log,
    folder: path.join(folder, 'models'),
    now: () => clock.now(),
    onKey: (key, print, requestId, modelId) =>
      keys.remember(key, print, { request_id: requestId, model_id: modelId }),
  });

  const dropSession = async (session: Session): Promise<void> => {
    await sessions.end(session);
    sampling.cancelAll(`${session.id}:`);
    for (const model of models.live()) if (model.card.session === session.id) await models.end(model);
    for (const sampler of samplers.list(session.id)) {
      const checkpoint = sampler.path === undefined ? undefined : checkpoints.find(sampler.path);
      await samplers.remove(sampler);
      if (checkpoint?.isPassing === true) await checkpoints.remove(checkpoint);
    }
  };
  const sweep = async (): Promise<void> => {
    futures.sweep();
    await checkpoints.sweep();
    for (const session of sessions.expired()) {
      log(`session ${session.id} had no requests for too long and is dropped`);
      await dropSession(session);
    }
  };
  let sweeping: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    sweeping = sweeping
      .then(sweep)
      .catch((error: Error) => log(`removing expired data failed: ${error.message}`));
  }, limits.sweepMs);
  timer.unref();

  return {
    parts: {
      engine,
      clock,
      limits,
      sessions,
      models,
      samplers,
      sampling,
      checkpoints,
      futures,
      keys,
      dropSession,
    },
    close: async () => {
      clearInterval(timer);
      await sweeping;
      await sampling.close();
      await models.close();
    },
  };
}
