import { compact, type JsonObject } from '../../core/json.ts';
import type { Promotion } from '../../train/promotion.ts';
import { findAdapter, type HomeFolder } from './adapter-folders.ts';

/** The versions that serve or are on trial, for the status output. */
export const describeVersions = (
  engine: string,
  { live, previous, trial }: Promotion,
  home: HomeFolder,
): JsonObject => ({
  policy: `instar/${engine}@${live.version}`,
  // The live version's adapter, for the user to copy.
  ...compact({ adapter: findAdapter(home, engine, live.version) }),
  versions: compact({
    live: live.version,
    previous: previous?.version,
    onTrial: trial && {
      version: trial.served.version,
      stage: trial.stage,
      pairs: trial.pairs.length,
      sessions: trial.sessions.length,
    },
  }),
});
