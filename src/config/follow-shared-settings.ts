import type { Log } from '../base/log.ts';
import { asArray, asObject } from '../core/json.ts';
import type { LogFollower } from '../core/log-follower.ts';
import { foldSharedSettings, SETTINGS_SUBJECT, type SharedSettings } from '../core/shared-setting.ts';
import type { Records } from '../core/store.ts';
import { ConfigError } from './config-error.ts';
import type { LiveSettings } from './live-settings.ts';
import { KEPT_SETTINGS } from './settings-state.ts';

interface FollowSharedOptions {
  readonly live: LiveSettings;
  readonly records: Pick<Records, 'events'>;
  /** What other gateways of the same record append; undefined where there are none. */
  readonly shared: Pick<LogFollower, 'on' | 'onBegun'> | undefined;
  readonly log: Pick<Log, 'warn'>;
  readonly againMs?: number;
}

const AGAIN_MS = 10_000;
/** Until it is known what the gateways share: they may want to keep longer what this one would erase. */
const KEEP: SharedSettings = { seq: 0, document: { store: { keepDays: 0 } } };

export const readSharedSettings = async (records: Pick<Records, 'events'>): Promise<SharedSettings> =>
  foldSharedSettings(await records.events(SETTINGS_SUBJECT));

/**
 * Uses the settings that the gateways of a record share, now and whenever one of them changes one. Never rejects: without
 * the record the gateway serves with the settings of its file, erases nothing by age, and reads them later.
 */
export async function followSharedSettings(options: FollowSharedOptions): Promise<void> {
  const { live, records, shared, log, againMs = AGAIN_MS } = options;
  let told = '[]';
  const use = async (settings: SharedSettings): Promise<void> => {
    try {
      await live.share(settings);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.warn(`${KEPT_SETTINGS}: ${error.message.replace(/\n\s*/g, ' ')}. See: instar config check`);
    }
  };
  const look = async (): Promise<void> => {
    try {
      await use(await readSharedSettings(records));
    } catch (error) {
      log.warn(
        { err: error },
        'the shared settings cannot be read: those of the file are used until they can',
      );
      await use(KEEP);
      setTimeout(() => void look(), againMs).unref();
      return;
    }
    const ignored = asArray(asObject(live.describe().shared).ignored).map(asObject);
    if (JSON.stringify(ignored) === told) return;
    told = JSON.stringify(ignored);
    for (const { path, why } of ignored) log.warn(`the shared setting ${path} is ignored here: ${why}`);
  };
  if (shared !== undefined) {
    await use(KEEP);
    shared.on(['settings-changed'], look);
    // What was appended before the follower knew the head of the log.
    shared.onBegun(look);
  }
  await look();
}
