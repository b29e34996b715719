import { NOTHING_SPENT } from '../../core/budget.ts';
import { isObject } from '../../core/json.ts';
import type {
  Attempt,
  AttemptGroup,
  AttemptLessons,
  AttemptOrder,
  AttemptOutcome,
  PracticeTask,
} from '../../core/practice.ts';
import { ATTEMPT_PREFIX } from '../../core/principal.ts';
import { type PracticeEvent, type RunContext, RunStop } from './practice-input.ts';
import { contentKey } from './practice-units.ts';

/** The attempts at one task, in the order of their places. */
export interface TaskAttempts {
  readonly task: PracticeTask;
  readonly generation: number;
  readonly attempts: readonly Attempt[];
}

interface AttemptedBatch {
  readonly made: readonly TaskAttempts[];
  /** Why some attempts were not made: nothing more may be spent. */
  readonly refusal?: string;
}

interface Place {
  readonly task: PracticeTask;
  readonly shown: AttemptLessons;
  readonly place: number;
}

/**
 * Makes the attempts of a batch. All attempts at a task are shown the same lessons, which are chosen once and journaled: other
 * learners may publish meanwhile. Results are in the order of tasks and places, whichever was ready first.
 */
export async function* attemptBatch(
  context: RunContext,
  step: number,
  tasks: readonly PracticeTask[],
): AsyncGenerator<PracticeEvent, AttemptedBatch> {
  const { groupSize, concurrency } = context.settings;
  const places: Place[] = [];
  for (const task of tasks) {
    const shown = await lessonsOf(context, step, task);
    if (shown !== undefined)
      for (let place = 0; place < groupSize; place++) places.push({ task, shown, place });
  }
  const made = new Map<string, Attempt[]>();
  const attempts: (Attempt | undefined)[] = [];
  let refusal: string | undefined;
  for await (const { index, value } of inParallel(places, concurrency, (place) =>
    attemptPlace(context, step, place),
  )) {
    if (value?.ok === false) refusal ??= value.why;
    else if (value !== undefined) {
      attempts[index] = value.attempt;
      yield eventOf(value.attempt, value.isKnown);
    }
  }
  places.forEach(({ task }, index) => {
    const attempt = attempts[index];
    if (attempt !== undefined) made.set(task.id, [...(made.get(task.id) ?? []), attempt]);
  });
  const groups = tasks.flatMap((task) => {
    const generation = places.find((one) => one.task.id === task.id)?.shown.generation;
    return generation === undefined ? [] : [{ task, generation, attempts: made.get(task.id) ?? [] }];
  });
  return { made: groups, ...(refusal === undefined ? {} : { refusal }) };
}

async function lessonsOf(
  { input: { lessonsFor }, units }: RunContext,
  step: number,
  task: PracticeTask,
): Promise<AttemptLessons | undefined> {
  const { prompt, agent, project, domain } = task;
  const query = {
    task: prompt,
    ...(agent === undefined ? {} : { agent }),
    ...(project === undefined ? {} : { project }),
    domain,
  };
  const shown = await units.value<AttemptLessons>(`shown/${step}/${task.id}`, {
    is: isLessons,
    sessions: sessionsOf(task),
    make: () => lessonsFor(query),
  });
  return shown?.value;
}

interface MadeAttempt {
  readonly ok: true;
  readonly attempt: Attempt;
  readonly isKnown: boolean;
}

/** One place of a group: made again after a failure of our own, and journaled each time. `why`: it may not be made. */
async function attemptPlace(
  { input, settings, units }: RunContext,
  step: number,
  { task, shown, place }: Place,
): Promise<MadeAttempt | { readonly ok: false; readonly why: string } | undefined> {
  const { run, agent, signal, budget, attempt: make, trainOn } = input;
  const temperature = trainOn === undefined ? settings.temperature : 1;
  let last: MadeAttempt | undefined;
  for (let round = 0; round <= settings.refills; round++) {
    const order: AttemptOrder = {
      id: `${ATTEMPT_PREFIX}${run}/${step}/${shortName(task.id)}/${place}${round === 0 ? '' : `.${round}`}`,
      task,
      shown,
      // Not the run: the same attempt of another run is the same.
      seed: `${settings.seed}/${step}/${task.id}/${place}/${round}`,
      temperature,
      timeoutMs: settings.timeoutMs,
    };
    const key = contentKey('attempt', agent, task, shown.text, order.seed, temperature, order.timeoutMs);
    const unit = `attempt/${step}/${task.id}/${place}/${round}`;
    const refusal = (await units.has(unit)) ? undefined : budget.refusal();
    if (refusal !== undefined) return last ?? { ok: false, why: refusal };
    const made = await units.value<Attempt>(unit, {
      is: isAttempt,
      sessions: sessionsOf(task),
      // Sampled tokens are of one version of the weights: they are never used again.
      ...(trainOn === undefined ? { key } : {}),
      adopt: (attempt) => ({
        ...attempt,
        id: order.id,
        generation: shown.generation,
        lessons: shown.lessons,
        used: NOTHING_SPENT,
      }),
      // What a budget did not allow was not made: it may be made when the run has more.
      keep: ({ outcome }) => !signal.aborted && !isOverBudget(outcome),
      make: async () => {
        if (signal.aborted) throw new RunStop('aborted');
        const attempt = await make(order, signal);
        const { outcome } = attempt;
        if (outcome.is === 'infrastructure' && outcome.retryAfterMs !== undefined)
          throw new RunStop('deferred', outcome.why, outcome.retryAfterMs);
        return readableAttempt(attempt, order);
      },
    });
    if (signal.aborted) throw new RunStop('aborted');
    if (made === undefined) return undefined;
    const { outcome } = made.value;
    if (outcome.is === 'infrastructure' && outcome.isOverBudget === true)
      return last ?? { ok: false, why: outcome.why };
    last = { ok: true, attempt: made.value, isKnown: made.isKnown };
    if (outcome.is !== 'infrastructure' || outcome.isLasting === true) break;
  }
  return last;
}

const isOverBudget = (outcome: AttemptOutcome): boolean =>
  outcome.is === 'infrastructure' && outcome.isOverBudget === true;

/** A lesson names its attempts: their ids must stay short. */
const shortName = (id: string): string => (id.length > 80 ? contentKey(id).slice(0, 24) : id);

/** What others made is taken as it is meant: a reward outside 0 to 1 is a fault of the verifier, and no grade. */
function readableAttempt(attempt: Attempt, { id, task, shown }: AttemptOrder): Attempt {
  const { outcome } = attempt;
  const isValid = outcome.is !== 'graded' || (outcome.reward >= 0 && outcome.reward <= 1);
  const why = outcome.is === 'graded' ? `the verifier gave ${outcome.reward}, which is not from 0 to 1` : '';
  return {
    ...attempt,
    id,
    task: task.id,
    generation: shown.generation,
    lessons: shown.lessons,
    output: attempt.output ?? '',
    steps: attempt.steps ?? [],
    outcome: isValid ? outcome : { is: 'infrastructure', why },
  };
}

/** The recorded sessions that a task comes from. */
export const sessionsOf = ({ from }: PracticeTask): readonly string[] =>
  from === undefined ? [] : [from.session];

/** The same of a group: recorded attempts have their own. */
export const sessionsOfGroup = ({ task, attempts }: AttemptGroup): readonly string[] => [
  ...new Set([...sessionsOf(task), ...attempts.flatMap(({ from }) => from?.session ?? [])]),
];

const isLessons = (value: unknown): value is AttemptLessons =>
  isObject(value) && typeof value.text === 'string' && typeof value.generation === 'number';

const isAttempt = (value: unknown): value is Attempt =>
  isObject(value) &&
  isObject(value.outcome) &&
  typeof value.output === 'string' &&
  Array.isArray(value.steps);

function eventOf({ id, task, outcome }: Attempt, isKnown: boolean): PracticeEvent {
  return {
    type: 'attempt-made',
    id,
    task,
    is: outcome.is,
    ...(outcome.is === 'graded' ? { reward: outcome.reward } : {}),
    ...(outcome.is === 'infrastructure' ? { why: outcome.why } : {}),
    isKnown,
  };
}

/**
 * Works on items, at most `most` at the same time, and yields each result when it is ready, with the place of its item. When one
 * fails, no further item is begun, those that were begun are waited for, and the first error in the order of items is thrown.
 */
export async function* inParallel<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T, index: number) => Promise<R>,
): AsyncGenerator<{ readonly index: number; readonly value: R }, void> {
  const running = new Map<
    number,
    Promise<{ readonly index: number; readonly value?: R; readonly error?: unknown }>
  >();
  const errors = new Map<number, unknown>();
  let next = 0;
  const begin = (): void => {
    while (next < items.length && running.size < Math.max(1, most) && errors.size === 0) {
      const index = next++;
      const item = items[index];
      if (item === undefined) continue;
      running.set(
        index,
        work(item, index).then(
          (value) => ({ index, value }),
          (error: unknown) => ({ index, error }),
        ),
      );
    }
  };
  try {
    for (begin(); running.size > 0; begin()) {
      const done = await Promise.race(running.values());
      running.delete(done.index);
      if ('error' in done) errors.set(done.index, done.error);
      else yield { index: done.index, value: done.value as R };
    }
  } finally {
    // A reader that leaves leaves nothing running behind.
    await Promise.all(running.values());
  }
  const [first] = [...errors].sort(([a], [b]) => a - b);
  if (first !== undefined) throw first[1];
}
