import type { Home } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { systemClock } from '../core/clock.ts';
import type { JsonObject } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { describeSchedule, findWindows } from './describe-schedule.ts';
import { foldJob } from './job-history.ts';
import { readJobSpending } from './jobs-budget.ts';
import { openSources } from './presence-sources.ts';
import type { Later } from './scheduler.ts';
import { readSources } from './scheduler.ts';
import { judgeWindow } from './step.ts';

const TIMEOUT_MS = 5_000;
const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** The schedule without a daemon: from the settings and one reading of each source. Rejects with `ConfigError`. */
export async function describeOffline(
  home: Home,
  env: NodeJS.ProcessEnv,
  records: Records,
  /** The job whose history is shown. */
  job: string,
): Promise<JsonObject> {
  const { config } = loadConfig({ file: home.configFile, env });
  const { all, planned, close } = openSources({
    settings: config.schedule,
    env,
    homeDir: home.dir,
    clock: systemClock,
  });
  const now = systemClock.now();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const [readings, windows, facts] = await Promise.all([
    readSources(all, now, signal, later),
    findWindows(planned, now, signal),
    records.events(`job/${job}`),
  ]);
  close();
  const { isAway, reasons } = judgeWindow(readings, true);
  return describeSchedule({
    state: 'off',
    reasons: ['Instar is not running', ...reasons],
    sources: all,
    readings,
    limits: config.schedule.budget,
    spent: await readJobSpending(records, facts, now),
    jobs: [{ name: job, needsWindow: true, history: foldJob(facts) }],
    planned: windows,
    isAway,
    now,
  });
}
