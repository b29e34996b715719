import type { Home } from '../../config/home.ts';
import { compact, type JsonObject } from '../../core/json.ts';
import type { Promotion } from '../../train/promotion.ts';
import { findAdapter } from './adapter-folders.ts';

/** Which versions serve and which are on trial, for people to look at. */
export const describeVersions = (
  engine: string,
  { live, previous, trial }: Promotion,
  home: Pick<Home, 'dir'>,
): JsonObject => ({
  policy: `instar/${engine}@${live.version}`,
  // Of what is live, for a person to take.
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
