import { type ServedAlerts, serveAlerts } from '../alerts/serve-alerts.ts';
import { limitRows } from '../api/key-limits.ts';
import type { JsonObject } from '../core/json.ts';
import { localDay } from '../cost/day-budget.ts';
import { titleOf } from '../lessons/title.ts';
import { parseSleep } from '../schedule/windows/parse-sleep.ts';
import { createSleepSource } from '../schedule/windows/sleep-windows.ts';
import type { LibraryAndLearning, SlowParts } from './library-and-learning.ts';
import type { DaemonBase, RecordAndKeys } from './record-and-keys.ts';

export interface WatchedParts {
  readonly base: DaemonBase;
  readonly record: RecordAndKeys;
  readonly learned: LibraryAndLearning;
  readonly slow: SlowParts;
}

/** Alerts about this daemon, as its settings say. */
export function watchAlerts(
  { base, record, learned, slow }: WatchedParts,
  status: () => JsonObject,
): ServedAlerts {
  const { options, config, clock, late } = base;
  const { home, env, log } = options;
  const { redactor, records } = record.recording;
  return serveAlerts({
    file: home.alertsFile,
    settings: () => (options.work === undefined ? config.log.alerts : undefined),
    learnBudget: () => config.learn.budget,
    env,
    status,
    budgets: () => {
      const { tokens, usd } = slow.schedule.spent();
      const jobs = { name: 'jobs', whose: 'The budget of background jobs' };
      const { tokensPerDay, usdPerDay } = config.schedule.budget;
      return [
        { ...jobs, of: 'tokens', used: tokens, most: tokensPerDay },
        { ...jobs, of: 'usd', used: usd, most: usdPerDay },
        ...limitRows({ home, env, members: record.team.limited }, (key) => late.keyBudgets?.used(key))
          .filter(({ per, used }) => per === 'day' && used !== undefined)
          .map(({ key, of, used = 0, most }) => ({
            name: `key ${key}`,
            whose: `The key "${key}"`,
            of,
            used,
            most,
          })),
      ];
    },
    dayOf: localDay,
    records,
    titleOf: (id) => {
      const lesson = learned.library.library()?.lesson(id);
      // What a member said to an agent is told to no one else.
      return lesson === undefined || lesson.text.scope.member !== undefined ? undefined : titleOf(lesson);
    },
    redact: redactor.redactText,
    isQuiet: async (hours, now) => {
      const parsed = parseSleep(hours ?? config.schedule.sleep);
      if (!parsed.ok) return false;
      return (
        (await createSleepSource({ rules: parsed.rules }).read(now, AbortSignal.timeout(5_000))).state ===
        'away'
      );
    },
    isLeader: learned.learning.isLeader,
    clock,
    log,
  });
}
