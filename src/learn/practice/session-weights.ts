import type { Clock } from '../../core/clock.ts';
import { errorMessage } from '../../core/failure.ts';
import { asObject, compact, isObject, type Json, type JsonObject, toJson } from '../../core/json.ts';
import type { Library } from '../../core/library.ts';
import type {
  Attempt,
  AttemptGroup,
  LessonsForTask,
  MakeAttempt,
  PracticeTask,
  SessionWeights,
  TrainedGroups,
  WeightsVerdict,
} from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import { plural } from '../../text/phrases.ts';
import { sessionsOf } from './attempt-batch.ts';
import type { PastSession, PracticeHistory } from './practice-history.ts';
import { hasSpread, PRACTICE_DEFAULTS, type TrainOnGroups } from './practice-input.ts';
import { openPracticeJournal, type RunUnits } from './practice-units.ts';
import type { PracticeTasks } from './sources/practice-tasks.ts';

/** The training of a session's policy. */
export interface SessionTraining {
  /** Why nothing may be trained while these are the tasks of the gate split; undefined when new weights can be measured on them. */
  whyNotTrained(gate: readonly PracticeTask[]): Promise<string | undefined>;
  readonly trainOn: TrainOnGroups;
  /** Compares the newest weights with those that serve. May be called again after it was stopped. */
  finish(gate: WeightsGate): AsyncGenerator<WeightsNews, WeightsVerdict>;
}

/** Tasks of the gate split, and how they are attempted. */
interface WeightsGate {
  readonly tasks: readonly PracticeTask[];
  readonly attempt: MakeAttempt;
  readonly lessonsFor: LessonsForTask;
  readonly timeoutMs: number;
}

interface WeightsNews {
  /** `pair-weighed`: both versions have attempted a task. */
  readonly type: string;
}

/** What is journaled about the groups of one batch. */
export interface TrainedUnit {
  readonly groups: readonly string[];
  readonly trained?: TrainedGroups;
}

const TRAINED = 'trained/';
const VERDICT = 'weights-verdict';

export const trainedUnit = (step: number | string): string => `${TRAINED}${step}`;
export const isTrainedUnit = (value: unknown): value is TrainedUnit =>
  isObject(value) && Array.isArray(value.groups);
const isVerdict = (value: unknown): value is WeightsVerdict =>
  isObject(value) && typeof value.outcome === 'string' && typeof value.version === 'number';

/** Sessions back in which groups are looked for. */
const MOST_SESSIONS = 5;
/** Groups of one step, and steps: tokens of older weights than these steps allow are not trained on. */
const OF_A_STEP = 20;
const MOST_STEPS = 3;

interface WaitingGroupsParts {
  readonly history: Pick<PracticeHistory, 'sessions'>;
  readonly records: Pick<Records, 'append' | 'events' | 'facts' | 'block'>;
  readonly tasks: Pick<PracticeTasks, 'open'>;
  readonly library: Pick<Library, 'generation'>;
  readonly clock: Clock;
}

/**
 * Trains on what earlier sessions attempted and could not train on, because nothing could have measured the weights then. Only groups
 * under the generation in force; each step is noted before the next. What the trainer finds too old, it leaves out. Returns why it
 * stopped early, if it did: the session goes on.
 */
export async function trainOnWaiting(
  { trainOn }: Pick<SessionTraining, 'trainOn'>,
  parts: WaitingGroupsParts,
  journal: RunUnits,
): Promise<string | undefined> {
  const sessions = parts.history.sessions();
  const trainedLast = sessions.findLastIndex(({ closed }) => (closed?.weights?.steps ?? 0) > 0);
  const untrained = sessions
    .slice(trainedLast + 1)
    .filter(({ closed }) => closed?.weights?.steps === 0)
    .slice(-MOST_SESSIONS);
  const groups: AttemptGroup[] = [];
  for (const session of untrained.toReversed()) groups.push(...(await readGroups(session, parts)));
  for (let step = 0; step < MOST_STEPS; step++) {
    const batch = groups.slice(step * OF_A_STEP, (step + 1) * OF_A_STEP);
    const unit = trainedUnit(`waiting-${step}`);
    if (batch.length === 0 || (await journal.read(unit)) !== undefined) continue;
    try {
      const trained = await trainOn(batch);
      await journal.write(unit, toJson({ groups: batch.map(({ id }) => id), trained: trained ?? null }));
    } catch (error) {
      return `groups of earlier sessions wait on: ${errorMessage(error)}`;
    }
  }
  return undefined;
}

/** The groups of a session that no step was made with, with better and worse attempts, in tokens. */
async function readGroups(
  { planned: { run } }: PastSession,
  { library: { generation }, records, tasks, clock }: WaitingGroupsParts,
): Promise<readonly AttemptGroup[]> {
  const units = (await openPracticeJournal({ run, records, clock })).units();
  const byGroup = new Map<string, readonly Attempt[]>();
  for (const [unit, value] of units) {
    const [, step] = /^attempt\/(\d+)\//.exec(unit) ?? [];
    if (step === undefined || isTrainedUnit(units.get(trainedUnit(step))) || !isSampled(value)) continue;
    if (value.generation !== generation) continue;
    const name = `${run}/${step}/${value.task}`;
    byGroup.set(name, [...(byGroup.get(name) ?? []), value]);
  }
  const groups: AttemptGroup[] = [];
  for (const [id, attempts] of byGroup) {
    const task = await tasks.open(attempts[0]?.task ?? '', records);
    if (task === undefined || !hasSpread({ attempts }, PRACTICE_DEFAULTS.tolerance)) continue;
    groups.push({ id, task, generation, gradedBy: 'verifier', attempts });
  }
  return groups;
}

const isSampled = (value: Json | Attempt): value is Attempt =>
  isObject(value) && isObject(value.outcome) && value.outcome.is === 'graded' && Array.isArray(value.sampled);

/** Measures the new weights once; attempts that were paid for are not made again when the session goes on. */
export async function* measureWeights(
  training: SessionTraining,
  gate: WeightsGate,
  journal: RunUnits,
  signal: AbortSignal,
): AsyncGenerator<{ readonly type: 'weights-compared'; readonly pairs: number }, void> {
  if ((await journal.read(VERDICT)) !== undefined) return;
  const news = training.finish({ ...gate, attempt: attemptOnce(gate.attempt, journal, signal) });
  let pairs = 0;
  let next = await news.next();
  for (; next.done !== true; next = await news.next())
    if (next.value.type === 'pair-weighed') yield { type: 'weights-compared', pairs: ++pairs };
  if (!signal.aborted) await journal.write(VERDICT, toJson(next.value));
}

/** Only the grade is needed again. */
const attemptOnce =
  (make: MakeAttempt, journal: RunUnits, stop: AbortSignal): MakeAttempt =>
  async (order, signal) => {
    const unit = `weights/${order.id}`;
    const known: unknown = await journal.read(unit);
    if (isGraded(known)) return { ...known, id: order.id, output: '', steps: [] };
    const attempt = await make(order, signal);
    const { task, by, generation, lessons, outcome, used } = attempt;
    if (outcome.is === 'graded' && !stop.aborted) {
      const grade = { is: outcome.is, reward: outcome.reward, reasons: [] };
      const sessions = sessionsOf(order.task);
      await journal.write(unit, toJson({ task, by, generation, lessons, outcome: grade, used }), {
        sessions,
      });
    }
    return attempt;
  };

const isGraded = (value: unknown): value is Attempt =>
  isObject(value) && asObject(value.outcome).is === 'graded' && isObject(value.used);

/** What the units of a session say about weights; undefined where nothing could be trained and nothing is to be said. */
export function weightsOf(
  units: ReadonlyMap<string, Json>,
  untrained: string | undefined,
): SessionWeights | undefined {
  const steps = [...units].flatMap(([unit, value]) =>
    unit.startsWith(TRAINED) && isTrainedUnit(value) && isObject(value.trained) ? [value.trained] : [],
  );
  const verdict = units.get(VERDICT);
  if (steps.length === 0 && verdict === undefined && untrained === undefined) return undefined;
  const refused = steps.flatMap((one) => one.refused);
  return compact({
    steps: steps.filter(({ groups }) => groups > 0).length,
    groups: steps.reduce((sum, { groups }) => sum + groups, 0),
    refused: refused.length,
    notes: [
      ...new Set([...(untrained === undefined ? [] : [untrained]), ...refused.map(({ why }) => why)]),
    ].slice(0, 5),
    verdict: isVerdict(verdict) ? verdict : undefined,
  });
}

/** With sentences for people in `said`. */
export function describeWeights(weights: SessionWeights): JsonObject {
  const { steps, groups, refused, notes, verdict } = weights;
  const trained =
    groups + refused === 0
      ? []
      : [
          `${plural(steps, 'update')} with ${plural(groups, 'group')}${refused === 0 ? '' : `; ${plural(refused, 'group')} not used`}`,
        ];
  const compared = verdict?.pairs
    ? ` (${plural(verdict.pairs, 'pair')} on ${plural(verdict.tasks, 'task')} of the gate)`
    : '';
  const measured =
    verdict === undefined ? [] : [`version ${verdict.version} ${verdict.outcome}: ${verdict.why}${compared}`];
  return { ...asObject(toJson(weights)), said: [...trained, ...notes, ...measured] };
}
