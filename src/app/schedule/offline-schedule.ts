import type { Home } from '../../config/home.ts';
import { loadConfig } from '../../config/load-config.ts';
import { systemClock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Records } from '../../core/records.ts';
import { localDay } from '../../schedule/day-budget.ts';
import { foldJob, spentOn } from '../../schedule/fold-job.ts';
import { foreseeWindow } from '../../schedule/foresee-window.ts';
import { judgeWindow } from '../../schedule/judge-window.ts';
import { readSources } from '../../schedule/read-sources.ts';
import type { Later } from '../../schedule/scheduler.ts';
import { describeSchedule } from './describe-schedule.ts';
import { openSources } from './presence-sources.ts';
import { REVIEW_JOB } from './review-job.ts';

const PATIENCE_MS = 5_000;
const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** The schedule where no daemon runs: what the settings and one look at each source say. Rejects with `ConfigError`. */
export async function describeOffline(
  home: Home,
  env: NodeJS.ProcessEnv,
  records: Records,
): Promise<JsonObject> {
  const { config } = loadConfig({ file: home.configFile, env });
  const { budget } = config.schedule;
  const { all, planned, close } = openSources({
    settings: config.schedule,
    env,
    homeDir: home.dir,
    clock: systemClock,
  });
  const now = systemClock.now();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const [readings, next, facts] = await Promise.all([
    readSources(all, now, signal, later),
    foreseeWindow(planned, now, signal),
    records.events(`job/${REVIEW_JOB}`),
  ]);
  close();
  const { isAway, reasons } = judgeWindow(readings, true);
  return describeSchedule({
    state: 'off',
    reasons: ['no daemon runs', ...reasons],
    sources: all,
    readings,
    limits: { minutes: budget.minutesPerDay, tokens: budget.tokensPerDay, usd: budget.usdPerDay },
    spent: spentOn(localDay(now), facts, localDay, now),
    jobs: [{ name: REVIEW_JOB, needsWindow: true, history: foldJob(facts) }],
    next,
    isAway,
    now,
  });
}
