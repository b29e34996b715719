import { asObject, isObject, type Json, type JsonObject } from '../core/json.ts';
import { withSetting } from '../core/shared-setting.ts';
import { settingAt } from './setting-path.ts';

interface RemovedSetting {
  /** What holds in its place: the end of a sentence that the user reads. */
  readonly now: string;
  /** The value under the same name, where only a form of it was removed; undefined for a value that is still valid. */
  readonly becomes?: (value: unknown) => Json | undefined;
}

const fixed = (now: string): RemovedSetting => ({ now });

/** Settings of the release before, or groups of them. They are read and ignored for one release, then they are unknown keys. */
const REMOVED: Readonly<Record<string, RemovedSetting>> = {
  'gateway.maxBodyMb': fixed('a request may have 64 MB'),
  'gateway.maxMessages': fixed('a request may have 10,000 messages'),
  'gateway.maxInFlight': fixed('2,000 requests are served at the same time'),
  'gateway.timeouts': fixed('a provider has 10 minutes to answer, and 5 minutes for a pause'),
  'gateway.retries': fixed('a request is sent again twice, before its first byte'),
  'library.index': fixed('24 further lessons are listed by a line each, in 600 tokens'),
  'library.holdout': fixed(
    'what you say is never held out; of lessons that were inferred one at a time is tested, in at most 3 % of sessions',
  ),
  'library.overviews': fixed(
    'the lessons themselves are shown; a list of their sentences recalled no rule more',
  ),
  'learn.compress': {
    now: 'learn.compress is true or false, and prompts over 6,000 tokens are rewritten',
    becomes: (value) => (isObject(value) ? true : undefined),
  },
  'learn.identity.reward.task': fixed(
    'the reward of the task counts 1; the other parts are weighed beside it',
  ),
  'learn.adapt': fixed(
    'one event of a session and day counts, and the kinds of events are those of docs/adaptation.md',
  ),
  'practice.taskMinutes': fixed('an attempt is stopped after 5 minutes'),
  'practice.budget.calls': fixed('practice.budget.usd and practice.budget.tokens limit a session'),
  'practice.budget.minutes': fixed('practice.budget.usd and practice.budget.tokens limit a session'),
  'practice.snapshots': fixed('tasks with files come from practice.tasks, with a repository and a commit'),
  'practice.trials': fixed(
    'a lesson is tested by at most 160 pairs of attempts, and you are asked after 45 days',
  ),
  'schedule.budget.minutesPerDay': fixed(
    'background jobs run for at most 8 hours a day; schedule.sleep says when',
  ),
  'train.loraRank': fixed('the rank of adapters is 32, and 8 for nano'),
  'train.groupSize': fixed('a task has 8 attempts'),
  'train.batchSize': fixed('train.amount says how much a window trains: light, night or long'),
  'train.steps': fixed(
    'train.amount says how much a window trains: light, night or long; instar train run --steps N for one window',
  ),
  'train.distill': fixed('lessons stay in the prompt; weights learn from rewards'),
  'train.kl': fixed('the gate of new weights compares them with the old ones'),
  'train.regression': fixed('new weights must answer the shipped general questions no worse'),
  'train.live': {
    now: 'train.live is true or false, and weights learn from rewards; corrections teach lessons',
    becomes: (value) => (isObject(value) ? value.evaluative !== false : undefined),
  },
  'store.spoolMegabytes': fixed('at most 1 GB waits in the home while a PostgreSQL is away'),
  'traces.caFile': fixed('set the environment variable NODE_EXTRA_CA_CERTS to the file'),
  'log.format': fixed('a terminal gets lines for people, everything else JSON'),
  'log.file': fixed('logs/instar.log is always written, at most 50 MB'),
};

/** One removed setting that a config has. */
interface RemovedUse {
  readonly path: readonly string[];
  /** The value that it has from now on; absent: none. */
  readonly value?: Json;
  readonly warning: string;
}

/** The removed settings of a config, with what to write in their place. */
export const findRemoved = (input: unknown): readonly RemovedUse[] =>
  Object.entries(REMOVED).flatMap(([name, { now, becomes }]): readonly RemovedUse[] => {
    const path = name.split('.');
    const old = settingAt(input, path);
    if (old === undefined) return [];
    const value = becomes?.(old);
    if (becomes !== undefined && value === undefined) return [];
    const what = becomes === undefined ? 'is no longer a setting' : 'has no members any more';
    return [{ path, ...(value === undefined ? {} : { value }), warning: `${name} ${what}: ${now}` }];
  });

/** The config without its removed settings. */
export const withoutRemoved = (input: unknown, removed: readonly RemovedUse[]): unknown =>
  removed.length === 0
    ? input
    : removed.reduce<JsonObject>(
        (config, { path, value }) => withSetting(config, path, value),
        asObject(input),
      );

/** What holds in place of a removed setting, for a person who names it; undefined for every other name. */
export function insteadOf(name: string): string | undefined {
  const removed = Object.keys(REMOVED).find((one) => name === one || name.startsWith(`${one}.`));
  return removed === undefined ? undefined : REMOVED[removed]?.now;
}
