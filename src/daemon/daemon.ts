import { isDeepStrictEqual } from 'node:util';
import type { ServedTraining } from '../../train/serve-training.ts';
import type { OpenAttemptAccess } from '../core/attempt-model.ts';
import { openLibraryAndLearning, openSlowParts } from './library-and-learning.ts';
import { openGateway } from './open-gateway.ts';
import { type DaemonOptions, openBase, openRecordAndKeys } from './record-and-keys.ts';

export interface Daemon {
  readonly url: string;
  readonly port: number;
  /** When all that was recorded so far has been learned from, and what was learned can be recalled. */
  settle(): Promise<void>;
  /** Undefined when nothing is to be trained. */
  readonly training: ServedTraining | undefined;
  /** What prompts may contain now. */
  generation(): number;
  /** Milliseconds that turns have waited for models so far. */
  modelMs(): number;
  /** A way through the gateway for one attempt at a practice task. */
  readonly openAttempt: OpenAttemptAccess;
  /** A path of `url` that signs a browser in on the page, once; undefined without a page. */
  pageCode(): string | undefined;
  /** Drains running streams, then lets go of everything. */
  close(): Promise<void>;
}

const GRACE_MS = 30_000;

/** Everything that `instar up` runs, wired together. Rejects when the port is taken. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const base = await openBase(options);
  const { late, live, config, names } = base;
  const record = await openRecordAndKeys(base);
  const learned = await openLibraryAndLearning(base, record);
  const slow = await openSlowParts(base, record, learned);
  const { library, learning, openAttempt } = learned;
  const { server, page, metrics, alerts } = openGateway({ base, record, learned, slow });
  live.onChange(async ({ before, applied }) => {
    options.log.info({ applied }, 'settings reloaded');
    record.recording.followKeys();
    names.rebuild();
    server.refreshHosts();
    if (!isDeepStrictEqual(before.schedule, { ...config.schedule })) slow.schedule.reload();
    await learning.reload();
  });
  const letGo = async (): Promise<void> => {
    record.keyAgents.flush();
    record.closeKeys();
    await page.close();
    await alerts.close();
    await slow.schedule.close();
    await slow.shortening.close();
    // Before the engine: what practice attempts meanwhile would count as failed.
    await learning.close();
    await record.jobs.close();
    await slow.training?.close();
    names.close();
    await base.pool.close();
    await library.close();
    await record.shared?.close();
    await record.recording.close();
    base.clock.close();
    base.lock.release();
  };
  try {
    record.team.refuseUnsafe();
    const isWorker = options.work !== undefined;
    const { host, port: usual } = config.gateway;
    const port = isWorker ? 0 : await server.listen(options.port ?? usual, host);
    late.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    record.shared?.announce(isWorker ? undefined : late.url);
    return {
      url: late.url,
      port,
      settle: async () => {
        await learning.settle();
        await library.settle();
      },
      training: slow.training,
      generation: () => library.library()?.generation ?? 0,
      modelMs: metrics.modelMs,
      openAttempt,
      pageCode: page.newCode,
      close: async () => {
        await server.close(GRACE_MS);
        await letGo();
      },
    };
  } catch (error) {
    await letGo();
    throw error;
  }
}
