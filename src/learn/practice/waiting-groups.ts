import { isObject, type Json, toJson } from '../../core/json.ts';
import type { Attempt, AttemptGroup } from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import type { PastSession } from './practice-history.ts';
import { PRACTICE_DEFAULTS } from './practice-input.ts';
import { openPracticeJournal, type RunUnits } from './practice-journal.ts';
import type { SessionParts } from './session-parts.ts';
import { isTrainedUnit, type SessionTraining, trainedUnit } from './session-weights.ts';
import { hasSpread } from './spread.ts';

/** Sessions back in which groups are looked for. */
const MOST_SESSIONS = 5;
/** Groups of one step, and steps: tokens of older weights than these steps allow are not trained on. */
const OF_A_STEP = 20;
const MOST_STEPS = 3;

/**
 * Trains on what earlier sessions attempted and could not train on, because nothing could have measured the weights then. Only groups
 * under the generation in force; each step is noted before the next. What the trainer finds too old, it leaves out. Returns why it
 * stopped early, if it did: the session goes on.
 */
export async function trainOnWaiting(
  { trainOn }: Pick<SessionTraining, 'trainOn'>,
  parts: Pick<SessionParts, 'history' | 'records' | 'tasks' | 'clock'> & {
    readonly library: Pick<SessionParts['library'], 'generation'>;
  },
  journal: RunUnits,
): Promise<string | undefined> {
  const { history, library } = parts;
  const sessions = history.sessions();
  const trainedLast = sessions.findLastIndex(({ closed }) => (closed?.weights?.steps ?? 0) > 0);
  const untrained = sessions
    .slice(trainedLast + 1)
    .filter(({ closed }) => closed?.weights?.steps === 0)
    .slice(-MOST_SESSIONS);
  const groups: AttemptGroup[] = [];
  for (const session of untrained.toReversed())
    groups.push(...(await readGroups(session, library.generation, parts)));
  for (let step = 0; step < MOST_STEPS; step++) {
    const batch = groups.slice(step * OF_A_STEP, (step + 1) * OF_A_STEP);
    const unit = trainedUnit(`waiting-${step}`);
    if (batch.length === 0 || (await journal.read(unit)) !== undefined) continue;
    try {
      const trained = await trainOn(batch);
      await journal.write(unit, toJson({ groups: batch.map(({ id }) => id), trained: trained ?? null }));
    } catch (error) {
      return `groups of earlier sessions wait on: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return undefined;
}

/** The groups of a session that no step was made with, with better and worse attempts, in tokens. */
async function readGroups(
  { planned: { run } }: PastSession,
  generation: number,
  {
    records,
    tasks,
    clock,
  }: Pick<SessionParts, 'tasks' | 'clock'> & {
    readonly records: Pick<Records, 'append' | 'events' | 'facts' | 'block'>;
  },
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
