import { createRandom } from '../../base/random.ts';
import { addSpending, NOTHING_SPENT, type Spending } from '../../core/budget.ts';
import { isObject, type Json, toJson } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type {
  Attempt,
  AttemptLessons,
  LessonsForTask,
  MakeAttempt,
  PracticeJournal,
  PracticeTask,
} from '../../core/practice.ts';
import { ATTEMPT_PREFIX } from '../../core/principal.ts';
import type { TrialFact, TrialMethod, TrialPair } from '../../core/trial.ts';
import type { GroupVerifier } from '../../core/verifier.ts';
import type { TrialRecord } from '../../lessons/effect/fold-trials.ts';
import { efficienciesOf, type RewardWeights, weighReward } from '../identity/weigh-rewards.ts';

export interface MeasureParts {
  readonly attempt: MakeAttempt;
  readonly lessonsFor: LessonsForTask;
  readonly journal: PracticeJournal;
  /** For replay. */
  readonly compare?: CompareAnswers | undefined;
  /** How far an answer keeps the identity that is measured, 0 to 1; undefined when that is not known. */
  readonly keepsIdentity?: KeepsIdentity | undefined;
  /** What grades are made of; absent: of the task's own. */
  readonly weights?: RewardWeights | undefined;
}

export type KeepsIdentity = (
  task: PracticeTask,
  output: string,
  signal: AbortSignal,
) => Promise<number | undefined>;

/** Grades two answers to a task against each other. */
export type CompareAnswers = (task: PracticeTask) => GroupVerifier;

export interface MeasureSettings {
  /** Attempts on each side of a pair; their mean is the side's grade. */
  readonly repeats: number;
  readonly temperature: number;
  readonly timeoutMs: number;
}

/** What is measured now. */
interface TrialWork {
  readonly lesson: Lesson;
  readonly record: TrialRecord;
  readonly method: TrialMethod;
  /** The tasks that the lesson is measured on, none of which it was learned from. Not empty. */
  readonly pool: readonly PracticeTask[];
  /** Lessons that this one would replace: they are left out with it. */
  readonly replaces?: readonly string[];
  /** Pairs of this batch: they run at the same time, as far as providers allow. */
  readonly pairs: number;
}

type MeasuredFact = Extract<TrialFact, { readonly type: 'trial-measured' }>;

interface MeasuredBatch {
  readonly fact: MeasuredFact;
  /** Why pairs were spoiled, when some were. */
  readonly faults: readonly string[];
}

/**
 * Measures one batch of pairs. For each pair the next task of the pool is
 * attempted with and without the lesson, with the same seeds and otherwise the same lessons. A pair of which an attempt failed
 * for reasons of infrastructure is dropped as a whole. Every attempt is journaled under what determines it: a batch that was
 * interrupted is completed without paying twice.
 */
export async function measureTrial(
  work: TrialWork,
  parts: MeasureParts,
  settings: MeasureSettings,
  signal: AbortSignal,
): Promise<MeasuredBatch> {
  const { record, method } = work;
  const first = record.begun[method];
  const places = Array.from({ length: work.pairs }, (_, at) => first + at);
  const measured = await Promise.all(
    places.map((place) => measurePair(place, work, { parts, settings, signal })),
  );
  const used = measured.reduce((all, pair) => addSpending(all, pair.used), NOTHING_SPENT);
  return {
    fact: {
      type: 'trial-measured',
      subject: record.subject,
      by: method,
      begun: first + work.pairs,
      pairs: measured.flatMap(({ pair }) => pair ?? []),
      used,
    },
    faults: measured.flatMap(({ why }) => why ?? []),
  };
}

const ARMS = ['with', 'without'] as const;
type Arm = (typeof ARMS)[number];

/** The attempts of a pair, by arm and in the order of their repeats. */
type PairAttempts = Readonly<Record<Arm, readonly Attempt[]>>;

/** What all pairs of a batch share. */
interface BatchContext {
  readonly parts: MeasureParts;
  readonly settings: MeasureSettings;
  readonly signal: AbortSignal;
}

interface MeasuredPair {
  readonly pair?: TrialPair;
  readonly why?: string;
  readonly used: Spending;
}

async function measurePair(
  place: number,
  { lesson, record, method, pool, replaces = [] }: TrialWork,
  context: BatchContext,
): Promise<MeasuredPair> {
  const { parts, settings, signal } = context;
  const name = `trial/${record.subject}/${method}/${place}`;
  const task = drawTask(pool, { place, subject: record.subject, seed: name });
  const query = queryOf(task);
  const shown = {
    with: await parts.lessonsFor(query, {
      with: [lesson.id],
      without: [...replaces],
      revisions: { [lesson.id]: lesson.revision },
    }),
    without: await parts.lessonsFor(query, { without: [lesson.id] }),
  };
  if (!shown.with.lessons.includes(lesson.id)) return { why: 'its text has changed', used: NOTHING_SPENT };
  const attempts = async (arm: Arm): Promise<readonly Attempt[]> =>
    Promise.all(
      Array.from({ length: settings.repeats }, (_, repeat) =>
        attemptOnce({ seed: `${name}/${repeat}`, arm, task, shown: shown[arm] }, context),
      ),
    );
  // Which side begins is drawn: a provider that slows down, or a cache that fills, favours neither.
  const isFirst = createRandom(`${name}/first`).below(2) === 0;
  const order = isFirst ? ARMS : ARMS.toReversed();
  const made = await Promise.all(order.map(attempts));
  const attemptsOf = (arm: Arm): readonly Attempt[] => made[order.indexOf(arm)] ?? [];
  const pair: PairAttempts = { with: attemptsOf('with'), without: attemptsOf('without') };
  const used = [...pair.with, ...pair.without].reduce(
    (all, { used: one }) => addSpending(all, one),
    NOTHING_SPENT,
  );
  const grades =
    method === 'tasks' ? meanGrades(pair) : await compareAnswers(task, pair, parts.compare, signal);
  if (!grades.ok) return { why: grades.why, used };
  const identity = await gradeIdentity(task, pair, parts.keepsIdentity, signal);
  const weighed = weighArms(grades, identity.identity, pair, parts.weights);
  return { pair: { task: task.id, root: task.root, ...weighed, ...identity }, used };
}

interface TaskDraw {
  readonly place: number;
  readonly subject: string;
  readonly seed: string;
}

/**
 * Tasks take turns, in an order drawn for the trial: many attempts at one task would say nothing about another. Variations of a task share its turn, and
 * which of them is attempted is drawn.
 */
function drawTask(pool: readonly PracticeTask[], { place, subject, seed }: TaskDraw): PracticeTask {
  const roots = [...new Set(pool.map(({ root }) => root))].sort();
  const first = createRandom(`trial/${subject}/order`).below(roots.length);
  const root = roots[(first + place) % roots.length];
  const tasks = pool.filter((task) => task.root === root).sort((a, b) => (a.id < b.id ? -1 : 1));
  const task = tasks[createRandom(seed).below(tasks.length)];
  if (task === undefined) throw new Error('a lesson cannot be measured without tasks');
  return task;
}

export const queryOf = ({ prompt, agent, project, domain }: PracticeTask) => ({
  task: prompt,
  domain,
  ...(agent === undefined ? {} : { agent }),
  ...(project === undefined ? {} : { project }),
});

interface ArmAttempt {
  /** The same with and without the lesson. */
  readonly seed: string;
  readonly arm: Arm;
  readonly task: PracticeTask;
  readonly shown: AttemptLessons;
}

async function attemptOnce(
  { seed, arm, task, shown }: ArmAttempt,
  { parts: { attempt, journal }, settings: { temperature, timeoutMs }, signal }: BatchContext,
): Promise<Attempt> {
  const id = `${seed}/${arm}/${task.id}/g${shown.generation}`;
  const stored = await journal.read(id);
  if (isAttempt(stored)) return stored;
  const order = { id: `${ATTEMPT_PREFIX}${id}`, task, shown, seed, temperature, timeoutMs };
  const made = await attempt(order, signal);
  // An attempt that failed for other reasons than its own is made again next time.
  if (made.outcome.is !== 'infrastructure') {
    const sessions = task.from === undefined ? [] : [task.from.session];
    await journal.write(id, toJson(made), { sessions });
  }
  return made;
}

const isAttempt = (value: Json | undefined): value is Json & Attempt =>
  isObject(value) && isObject(value.outcome) && typeof value.output === 'string';

type PairGrades =
  | ({ readonly ok: true } & Readonly<Record<Arm, number>>)
  | { readonly ok: false; readonly why: string };

function meanGrades(pair: PairAttempts): PairGrades {
  const means = { with: 0, without: 0 };
  for (const arm of ARMS) {
    const attempts = pair[arm];
    if (attempts.length === 0) return { ok: false, why: 'no attempt was made' };
    let sum = 0;
    for (const { outcome } of attempts) {
      if (outcome.is === 'infrastructure') return { ok: false, why: outcome.why };
      if (outcome.is === 'ungraded') return { ok: false, why: 'an attempt was not graded' };
      sum += outcome.reward;
    }
    means[arm] = sum / attempts.length;
  }
  return { ok: true, ...means };
}

/** Both arms or none: half a comparison says nothing. */
async function gradeIdentity(
  task: PracticeTask,
  pair: PairAttempts,
  keepsIdentity: KeepsIdentity | undefined,
  signal: AbortSignal,
): Promise<Pick<TrialPair, 'identity'>> {
  if (keepsIdentity === undefined) return {};
  const identity = { with: 0, without: 0 };
  for (const arm of ARMS) {
    for (const { output } of pair[arm]) {
      const share = await keepsIdentity(task, output, signal);
      if (share === undefined) return {};
      identity[arm] += share / pair[arm].length;
    }
    identity[arm] = Math.min(1, identity[arm]);
  }
  return { identity };
}

/** The tokens of both arms are compared with each other. */
function weighArms(
  grades: Readonly<Record<Arm, number>>,
  identity: TrialPair['identity'],
  pair: PairAttempts,
  weights: RewardWeights | undefined,
): Readonly<Record<Arm, number>> {
  if (weights === undefined) return { with: grades.with, without: grades.without };
  const tokens = ARMS.map((arm) => pair[arm].reduce((sum, { used }) => sum + used.tokens, 0));
  const [withIt, without] = efficienciesOf(tokens);
  const weigh = (arm: Arm, efficiency: number | undefined): number =>
    weighReward({ task: grades[arm], identity: identity?.[arm], efficiency }, weights);
  return { with: weigh('with', withIt), without: weigh('without', without) };
}

/** Each answer with the lesson against the answer without it of the same seed. */
async function compareAnswers(
  task: PracticeTask,
  pair: PairAttempts,
  compare: CompareAnswers | undefined,
  signal: AbortSignal,
): Promise<PairGrades> {
  const sums = { with: 0, without: 0 };
  for (const [place, attempt] of pair.with.entries()) {
    const other = pair.without[place];
    const failed = [attempt, other].find((one) => one?.outcome.is === 'infrastructure')?.outcome;
    if (failed?.is === 'infrastructure') return { ok: false, why: failed.why };
    const verdicts = await compare?.(task)(
      [attempt, other].map((one) => ({ task: task.prompt, output: one?.output ?? '', domain: task.domain })),
      signal,
    );
    const [first, second] = verdicts ?? [];
    if (first?.status !== 'ok' || second?.status !== 'ok')
      return { ok: false, why: first?.reasons[0] ?? 'there is no judge to compare answers' };
    sums.with += first.reward / pair.with.length;
    sums.without += second.reward / pair.with.length;
  }
  return { ok: true, ...sums };
}
