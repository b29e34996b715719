import type { SchedulePhase } from '../core/fact.ts';
import type { Presence } from '../core/schedule.ts';
import type {
  JobCandidate,
  Moment,
  ScheduleEffect,
  ScheduleEvent,
  ScheduleRules,
  ScheduleState,
} from './state.ts';

interface ScheduleStep {
  readonly state: ScheduleState;
  readonly effects: readonly ScheduleEffect[];
}

/**
 * The scheduler's state machine: the next state after an event, and the effects to carry out. A pure function; its only
 * clock is the moment of the event.
 *
 *     waiting ──two × away───────▶ open ──a job is ready──▶ running ──present, traffic, jump, budget──▶ pausing
 *        ▲                          │ ▲────────the job ended────────┘                                     │
 *        └──────one × not away──────┘◀────────────────the job stopped, or its grace is over───────────────┘
 */
export function stepSchedule(
  before: ScheduleState,
  event: ScheduleEvent,
  rules: ScheduleRules,
): ScheduleStep {
  const step: StepUnderWay = { state: { ...before, at: event.at }, effects: [] };
  const jump = findJump(before.at, event.at, rules);
  if (jump !== undefined) closeWindow(step, [jump]);

  switch (event.type) {
    case 'traffic':
      step.state = { ...step.state, trafficAt: event.at.mono, inFlight: event.inFlight };
      closeWindow(step, TRAFFIC);
      break;
    case 'budget-spent':
      if (step.state.phase === 'running') stop(step, ['budget spent']);
      stopBeside(step, ['budget spent']);
      break;
    case 'closing':
      step.state = { ...step.state, isClosing: true };
      closeWindow(step, ['closing']);
      stopBeside(step, ['closing']);
      break;
    case 'ended':
      endJob(step, event, rules);
      break;
    case 'grace-over':
      if (step.state.job !== event.job || step.state.phase !== 'pausing') break;
      step.effects.push({ type: 'abandon', job: event.job });
      move(step, 'waiting', ['job did not stop in time']);
      step.state = { ...step.state, job: undefined, looks: 0, stuck: [...step.state.stuck, event.job] };
      break;
    case 'look':
      step.state = { ...step.state, readings: event.readings };
      // Readings across a clock jump are not trusted: both must come after it.
      if (jump === undefined) look(step, event, rules);
  }
  return step;
}

/** The state so far, and the effects so far. */
interface StepUnderWay {
  state: ScheduleState;
  readonly effects: ScheduleEffect[];
}

function move(step: StepUnderWay, to: SchedulePhase, reasons: readonly string[]): void {
  const { phase: from, job } = step.state;
  step.effects.push({ type: 'tell', from, to, reasons, job });
  step.state = { ...step.state, phase: to, reasons };
}

/** Closes the window and stops its job. */
function closeWindow(step: StepUnderWay, reasons: readonly string[]): void {
  step.state = { ...step.state, looks: 0 };
  const { phase } = step.state;
  if (phase === 'waiting') step.state = { ...step.state, reasons };
  else if (phase === 'open') move(step, 'waiting', reasons);
  else if (phase === 'running') stop(step, reasons);
}

function stop(step: StepUnderWay, reasons: readonly string[]): void {
  const { job } = step.state;
  if (job === undefined) return;
  step.effects.push({ type: 'abort', job, reasons });
  move(step, 'pausing', reasons);
}

/** Stops the jobs that need no window. */
function stopBeside({ state, effects }: StepUnderWay, reasons: readonly string[]): void {
  for (const job of state.beside) effects.push({ type: 'abort', job, reasons });
}

function endJob(
  step: StepUnderWay,
  event: ScheduleEvent & { readonly type: 'ended' },
  rules: ScheduleRules,
): void {
  const { state } = step;
  const { phase, job } = state;
  step.state = {
    ...state,
    ...withRest(state, event, rules),
    stuck: without(state.stuck, event.job),
    beside: without(state.beside, event.job),
  };
  if (job !== event.job) return;
  if (phase === 'pausing') step.state = { ...step.state, looks: 0 };
  move(step, phase === 'pausing' ? 'waiting' : 'open', [`job ${event.end}`]);
  step.state = { ...step.state, job: undefined };
}

/** Opens or closes the window by what the sources show, and starts the jobs that may begin. */
function look(
  step: StepUnderWay,
  event: ScheduleEvent & { readonly type: 'look' },
  rules: ScheduleRules,
): void {
  const verdict = judgeWindow(event.readings, isQuiet(step.state, rules));
  if (!verdict.isAway || step.state.isClosing) closeWindow(step, verdict.reasons);
  else step.state = { ...step.state, looks: step.state.looks + 1 };
  if (event.isSpent && step.state.phase === 'running') stop(step, ['budget spent']);
  const mayStart = !event.isSpent && !step.state.isClosing;
  const able = mayStart ? event.ready.filter((job) => mayBegin(step.state, job)) : [];
  const fitting = able.filter((job) => job.needsWindow && isLongEnough(verdict, job, event.at, rules));
  if (step.state.phase === 'waiting' && verdict.isAway && step.state.looks >= rules.looksToOpen) {
    if (fitting.length > 0 || leftOf(verdict, event.at) >= rules.minimumMs)
      move(step, 'open', verdict.reasons);
    else step.state = { ...step.state, reasons: ['window too short'] };
  }
  const next = fitting.reduce<JobCandidate | undefined>(better, undefined);
  if (step.state.phase === 'open' && next !== undefined) {
    step.state = { ...step.state, job: next.name };
    step.effects.push({ type: 'start', job: next.name });
    move(step, 'running', verdict.reasons);
  }
  for (const { name } of able.filter(({ needsWindow }) => !needsWindow)) {
    step.state = { ...step.state, beside: [...step.state.beside, name] };
    step.effects.push({ type: 'start', job: name });
  }
}

export const TRAFFIC: readonly string[] = ['traffic: present'];

/** No request is in flight, and none was for `quietMs`. */
export const isQuiet = ({ inFlight, trafficAt, at }: ScheduleState, { quietMs }: ScheduleRules): boolean =>
  inFlight === 0 && (trafficAt === undefined || at === undefined || at.mono - trafficAt >= quietMs);

/** The time until the next reading. */
export const paceOf = ({ phase, looks }: ScheduleState, rules: ScheduleRules): number =>
  phase === 'running'
    ? Math.min(rules.watchPaceMs, rules.busyPaceMs)
    : phase === 'pausing' || (phase === 'waiting' && looks > 0)
      ? rules.busyPaceMs
      : rules.idlePaceMs;

const without = (list: readonly string[], job: string): readonly string[] =>
  list.filter((name) => name !== job);

const mayBegin = ({ job, beside, stuck, rests, at }: ScheduleState, { name }: JobCandidate): boolean =>
  name !== job &&
  !beside.includes(name) &&
  !stuck.includes(name) &&
  (at?.mono ?? 0) >= (rests[name]?.until ?? Number.NEGATIVE_INFINITY);

const better = (best: JobCandidate | undefined, next: JobCandidate): JobCandidate =>
  best === undefined || next.priority > best.priority ? next : best;

const leftOf = ({ until }: WindowVerdict, { wall }: Moment): number =>
  (until ?? Number.POSITIVE_INFINITY) - wall;

/** Jobs can be interrupted, so a long job may start in a window of the minimum length; a short job also in a shorter one. */
const isLongEnough = (
  verdict: WindowVerdict,
  { estimateMs }: JobCandidate,
  at: Moment,
  { minimumMs }: ScheduleRules,
): boolean => leftOf(verdict, at) >= Math.min(estimateMs, minimumMs);

/** A job that failed, lost its lease, or paused without being asked is not started again at once. */
function withRest(
  state: ScheduleState,
  { job, end, at }: ScheduleEvent & { readonly type: 'ended' },
  { restMs, longestRestMs, busyPaceMs }: ScheduleRules,
): Pick<ScheduleState, 'rests'> {
  const { [job]: before, ...others } = state.rests;
  if (end === 'done') return { rests: others };
  const wasAsked = state.phase === 'pausing' || state.isClosing;
  if (end === 'paused') {
    const until = at.mono + (wasAsked ? 0 : busyPaceMs);
    return { rests: { ...others, [job]: { until, failures: before?.failures ?? 0 } } };
  }
  const failures = (before?.failures ?? 0) + 1;
  const rest = end === 'lost' ? restMs : Math.min(longestRestMs, restMs * 2 ** Math.min(failures - 1, 20));
  return { rests: { ...others, [job]: { until: at.mono + rest, failures } } };
}

/**
 * Detects a clock jump: the wall clock was set, forwards or back, or the machine was suspended (the monotonic clock stops
 * meanwhile, or no reading was made for long). Earlier conclusions do not hold after it, and whoever wakes a machine is
 * probably present.
 */
function findJump(
  before: Moment | undefined,
  now: Moment,
  rules: Pick<ScheduleRules, 'jumpMs' | 'gapMs'>,
): string | undefined {
  if (before === undefined) return undefined;
  const lasted = now.mono - before.mono;
  const drift = now.wall - before.wall - lasted;
  if (drift <= -rules.jumpMs) return 'the clock was set back';
  if (drift >= rules.jumpMs) return 'the clock was set forward, or the machine was suspended';
  return lasted >= rules.gapMs ? 'the machine was suspended' : undefined;
}

interface WindowVerdict {
  /** At least one source says `away`, and none says `present`. */
  readonly isAway: boolean;
  /** When the window is expected to end; undefined when that is not known. */
  readonly until: number | undefined;
  /** `source: state`, without details: stored permanently. */
  readonly reasons: readonly string[];
}

/** `isQuiet`: no recent request. One `present` outweighs every `away`; `unknown` counts as neither. */
export function judgeWindow(readings: readonly Presence[], isQuiet: boolean): WindowVerdict {
  const present = readings.filter(({ state }) => state === 'present');
  const away = readings.filter(({ state }) => state === 'away');
  const shown = (list: readonly Presence[]): string[] =>
    [...new Set(list.map(({ source, state }) => `${source}: ${state}`))].sort();
  if (!isQuiet || present.length > 0) {
    const traffic = isQuiet ? [] : ['traffic: present'];
    return { isAway: false, until: undefined, reasons: [...traffic, ...shown(present)] };
  }
  if (away.length === 0) return { isAway: false, until: undefined, reasons: ['no source says away'] };
  const ends = away.map(({ until }) => until ?? Number.POSITIVE_INFINITY);
  const last = Math.max(...ends);
  return { isAway: true, until: Number.isFinite(last) ? last : undefined, reasons: shown(away) };
}
