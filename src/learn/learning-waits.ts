import { createLruMap } from '../base/lru-map.ts';
import type { JsonObject } from '../core/json.ts';
import type { Scope } from '../core/lesson.ts';
import type { Records } from '../core/store.ts';
import type { Waiting, WaitingCode } from '../core/waiting.ts';
import { duration, plural, relativeTime } from '../text/phrases.ts';
import { truncateEnd } from '../text/truncate.ts';
import { oneLine } from '../text/visible-text.ts';
import type { WaitingCluster } from './failure-clusters.ts';
import type { LearningState } from './learning-state.ts';
import { type LastTry, nextMidnight, type Pause } from './pauses.ts';

/** After this time without a turn a session has ended: then its score counts. */
export const IDLE_MS = 30 * 60_000;
const LONGEST_WHY = 240;
/** More places than this are one line together. */
const MOST_CLUSTERS = 8;

interface LearningWaitsOptions {
  readonly state: LearningState;
  /** `learn.failures`. */
  readonly failures: number;
  readonly now: number;
  /** Sessions that have not ended. */
  readonly open: { readonly count: number; readonly oldest: number | undefined };
  /** Turns since the start whose callers are not known. */
  readonly anonymous: number;
  /** The name of a project, for people. */
  readonly labelOf: (cluster: WaitingCluster) => Promise<string | undefined>;
  /** Nothing learns now: no daemon runs. */
  readonly isOffline?: boolean;
}

/** All that waits to be learned from, and why. Never rejects. */
export async function listLearningWaits(options: LearningWaitsOptions): Promise<readonly Waiting[]> {
  const { state, now, open, anonymous } = options;
  const clusters = [...state.support.waiting()].sort((a, b) => b.failures.length - a.failures.length);
  const waits: Waiting[] = [];
  for (const cluster of clusters.slice(0, MOST_CLUSTERS))
    waits.push(waitOf(cluster, await options.labelOf(cluster), options));
  const others = clusters.slice(MOST_CLUSTERS).reduce((sum, { failures }) => sum + failures.length, 0);
  if (others > 0)
    waits.push({
      code: 'more-failures',
      count: others,
      what: `${plural(others, 'failure')} in ${plural(clusters.length - MOST_CLUSTERS, 'other place')}`,
      why: verb(others, 'waits too', 'wait too'),
    });
  if (!state.switch.isOn) waits.push(switchedOff(state, now));
  const queued = queueWait(options);
  if (queued !== undefined) waits.push(queued);
  const revised = revisionWait(options);
  if (revised !== undefined) waits.push(revised);
  const ignored = ignoredWait(options);
  if (ignored !== undefined) waits.push(ignored);
  if (open.count > 0 && open.oldest !== undefined && options.isOffline !== true)
    waits.push({
      code: 'session-open',
      count: open.count,
      what: plural(open.count, 'session'),
      why: `${verb(open.count, 'is', 'are')} open: each is scored after ${duration(IDLE_MS)} without a request`,
      nextAt: open.oldest + IDLE_MS,
    });
  if (anonymous > 0)
    waits.push({
      code: 'no-key',
      count: anonymous,
      what: `${plural(anonymous, 'turn')} since the start`,
      why: `had no key: they got no lessons, and nothing is learned from them`,
      fix: 'instar connect CLIENT',
    });
  return waits;
}

const verb = (count: number, one: string, many: string): string => (count === 1 ? one : many);

/** `2 failures of claude-code in shop-api`. */
const placeOf = (count: number, { agent }: Scope, label: string | undefined): string =>
  `${plural(count, 'failure')}${agent === undefined ? '' : ` of ${agent}`}${label === undefined ? '' : ` in ${label}`}`;

function waitOf(cluster: WaitingCluster, label: string | undefined, options: LearningWaitsOptions): Waiting {
  const { failures: list, scope, pause } = cluster;
  const count = list.length;
  const waits = verb(count, 'waits', 'wait');
  const known = { count, what: placeOf(count, scope, label) };
  if (!options.state.switch.isOn)
    return { ...known, code: 'learning-off', why: `${waits}: learning is off`, fix: 'instar learning on' };
  const missing = options.failures - count;
  if (missing > 0)
    return {
      code: 'more-failures',
      count,
      what: `${missing === 1 ? 'one' : missing} more similar ${placeOf(missing, scope, label).replace(/^\d+ /, '')}`,
      why: `and Instar writes a lesson (${count} of ${options.failures})`,
    };
  if (!cluster.isCorroborated)
    return {
      ...known,
      code: 'one-session',
      why: `${waits} for your word, or for one more in another session: nobody has said yet that anything was wrong`,
      fix: `instar feedback ${list.at(-1)?.turn ?? 'TURN'} --bad "what was wrong"`,
    };
  if (options.isOffline === true)
    return { ...known, code: 'not-running', why: `${waits}: Instar is not running`, fix: 'instar up' };
  const { evolver } = options.state;
  const isAwaited = list.every(({ turn }) => evolver.has(turn));
  const last = isAwaited ? evolver.pauseOf(list.at(-1)?.turn ?? '') : pause;
  if (last?.last === undefined)
    return { ...known, code: 'learning-now', why: `${verb(count, 'is', 'are')} learned from now` };
  return { ...known, ...tryOf(last, last.last, waits, options.now) };
}

const CODES: Readonly<Record<LastTry['cause'], WaitingCode>> = {
  budget: 'budget-spent',
  model: 'model-unavailable',
  reply: 'reply-unusable',
  refused: 'refused-by-gate',
  nothing: 'nothing-found',
  'not-cited': 'not-cited',
};

/** A pause after a try, in words. */
function tryOf(
  { until, since }: Pause,
  { cause, why }: LastTry,
  waits: string,
  now: number,
): Pick<Waiting, 'code' | 'why' | 'nextAt' | 'fix'> {
  const text = truncateEnd(oneLine(why), LONGEST_WHY);
  const code = CODES[cause];
  const nextAt = Math.max(until, now);
  switch (cause) {
    case 'budget': {
      const setting = /\((learn\.[\w.]+)\)/.exec(why)?.[1] ?? 'learn.budget.usdPerDay';
      return {
        code,
        why: `${waits}: ${text}`,
        // A call that is over the whole limit does not fit tomorrow either.
        ...(why.includes('midnight') ? { nextAt: nextMidnight(now) } : {}),
        fix: `instar config set ${setting} LIMIT`,
      };
    }
    case 'model':
      return { code, why: `${waits}: ${text}, ${sinceWords(since, now)}`, nextAt, fix: 'instar doctor' };
    case 'reply':
      return { code, why: `${waits}: ${text}`, nextAt };
    case 'refused':
      return { code, why: `${waits}: the lesson written from them was refused (${text})`, nextAt };
    case 'not-cited':
      return { code, why: `${waits} for more like them: the lesson ${text} does not rest on them`, nextAt };
    case 'nothing':
      return { code, why: `${waits}: ${text}`, nextAt, fix: 'instar feedback last "what was wrong"' };
  }
}

const sinceWords = (since: number, now: number): string =>
  now - since < 60_000 ? 'since just now' : `first ${relativeTime(since, now)}`;

const switchedOff = ({ switch: { since } }: LearningState, now: number): Waiting => ({
  code: 'learning-off',
  count: 0,
  what: 'learning',
  why: `is off${since === undefined ? '' : `, turned off ${relativeTime(since, now)}`}: no lesson is written or changed, those in use are still shown`,
  fix: 'instar learning on',
});

/** Ended sessions with failures and successes, from which one lesson each may be learned. */
function queueWait({ state, now, isOffline }: LearningWaitsOptions): Waiting | undefined {
  const items = [...state.queue.values()].flatMap(({ item, learner }) => (learner === 'live' ? [item] : []));
  if (items.length === 0 || !state.switch.isOn) return undefined;
  const known = { count: items.length, what: plural(items.length, 'ended session') };
  const waits = verb(items.length, 'waits', 'wait');
  if (isOffline === true)
    return { ...known, code: 'not-running', why: `${waits}: Instar is not running`, fix: 'instar up' };
  const pauses = items.flatMap((item) => state.queuePauses.get(item) ?? []);
  const [first] = pauses.sort((a, b) => a.until - b.until);
  return first?.last === undefined
    ? { ...known, code: 'learning-now', why: `${verb(items.length, 'is', 'are')} learned from now` }
    : { ...known, ...tryOf(first, first.last, waits, now) };
}

/** Lessons in the user's own words that the evolver will write out. They are in use meanwhile. */
function revisionWait({ state, now, isOffline }: LearningWaitsOptions): Waiting | undefined {
  const lessons = state.evolver.lessons();
  if (lessons.length === 0 || !state.switch.isOn) return undefined;
  const count = lessons.length;
  const known = {
    code: 'evolver-revision',
    count,
    lessons,
    what: `${plural(count, 'lesson')} in your own words`,
  } as const;
  const inUse = `${verb(count, 'is', 'are')} in use; the writer has yet to word ${verb(count, 'it', 'them')} better`;
  if (isOffline === true) return { ...known, why: `${inUse} when Instar runs`, fix: 'instar up' };
  const turns = state.evolver.items().flatMap(({ failures }) => failures.map(({ turn }) => turn));
  const pauses = turns.flatMap((turn) => state.evolver.pauseOf(turn) ?? []);
  const [first] = pauses.sort((a, b) => a.until - b.until);
  if (first?.last === undefined) return { ...known, why: `${inUse}: it is being asked` };
  const { why: _, code: __, ...next } = tryOf(first, first.last, '', now);
  const reason = truncateEnd(oneLine(first.last.why), LONGEST_WHY);
  return { ...known, why: `${inUse}. Last try: ${reason}`, ...next };
}

/** Lessons that a person had better word otherwise: they are shown, and people have to say the same again. */
function ignoredWait({ state }: LearningWaitsOptions): Waiting | undefined {
  const lessons = state.uses.ignored();
  const [first] = lessons;
  if (first === undefined) return undefined;
  const count = lessons.length;
  return {
    code: 'lesson-ignored',
    count,
    lessons: lessons.map(({ id }) => id),
    what: plural(count, 'lesson'),
    why: `${verb(count, 'was', 'were')} shown, and you had to say the same again in ${first.sessions} sessions: other words may help`,
    fix: `instar lessons show ${first.id}`,
  };
}

/** As `/api/status` has it: times as text. */
export const encodeWaiting = ({ nextAt, ...waiting }: Waiting): JsonObject => ({
  ...waiting,
  ...(nextAt === undefined ? {} : { nextAt: new Date(nextAt).toISOString() }),
});

const MOST_LABELS = 500;

/** The labels of projects, by the sessions of their failures. Never rejects: without a label there is none to show. */
export function createProjectLabels(
  records: Pick<Records, 'session'>,
): (cluster: WaitingCluster) => Promise<string | undefined> {
  const known = createLruMap<string, string>(MOST_LABELS);
  return async ({ scope: { project }, failures }) => {
    const session = failures.at(-1)?.session;
    if (project === undefined || session === undefined) return undefined;
    const before = known.get(project);
    if (before !== undefined) return before;
    const view = await records.session(session).catch(() => undefined);
    const label = view?.project?.label || project;
    if (view !== undefined) known.set(project, label);
    return label;
  };
}
