import { existsSync } from 'node:fs';
import type { Home } from '../src/config/home.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { policyName } from '../src/config/model-ref.ts';
import { readStoreUrl } from '../src/config/store-url.ts';
import { systemClock } from '../src/core/clock.ts';
import type { JsonObject } from '../src/core/json.ts';
import { openReads, placeOfRecord } from '../src/record/open-store.ts';
import { DEFAULT_PROMOTION } from './promotion.ts';
import { openPromotionLog } from './promotion-log.ts';
import { describeVersions } from './training-status.ts';

/** The training status without a daemon: the settings and the versions in the record. */
export async function describeOfflineTraining(home: Home, env: NodeJS.ProcessEnv): Promise<JsonObject> {
  const name = policyName(loadConfig({ file: home.configFile, env }).config.train);
  if (name === undefined) return { engine: 'off', policy: '' };
  const place = placeOfRecord(home, { url: readStoreUrl(home.configFile) });
  const isMissing = place === home.storeFile && !existsSync(place);
  const reader = isMissing ? undefined : await openReads(place);
  try {
    const promotions = await openPromotionLog({
      engine: name,
      records: {
        events: async (of) => (await reader?.events(of)) ?? [],
        append: async () => {
          throw new Error('weights cannot be moved without a daemon');
        },
      },
      clock: systemClock,
      settings: DEFAULT_PROMOTION,
    });
    return { engine: name, engineState: 'idle', ...describeVersions(name, promotions.state(), home) };
  } finally {
    await reader?.close();
  }
}
