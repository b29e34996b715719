import type { Home } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { systemClock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { REVIEW_JOB } from '../lessons/review-job.ts';
import { localDay } from './day-budget.ts';
import { describeSchedule, foreseeWindow } from './describe-schedule.ts';
import { foldJob, spentOn } from './job-history.ts';
import { openSources } from './presence-sources.ts';
import type { Later } from './scheduler.ts';
import { readSources } from './scheduler.ts';
import { judgeWindow } from './step.ts';

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
