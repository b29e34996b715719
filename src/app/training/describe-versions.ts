import { compact, type JsonObject } from '../../core/json.ts';
import type { Promotion } from '../../train/promotion.ts';

/** Which versions serve and which are on trial, for people to look at. */
export const describeVersions = (engine: string, { live, previous, trial }: Promotion): JsonObject => ({
  policy: `instar/${engine}@${live.version}`,
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
