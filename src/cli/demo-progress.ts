import type { DEMO_CONDITIONS, DemoEvent, DemoPlan } from '../app/bench/run-demo.ts';
import { nightWords } from './night-words.ts';

type Condition = (typeof DEMO_CONDITIONS)[number];

/** How far one condition is. */
interface Standing {
  readonly asked: number;
  readonly questions: number;
  readonly seed: number;
  readonly day: number;
  readonly files: number;
  readonly complete: number;
  readonly night?: { readonly step: number; readonly steps: number; readonly pairs: number };
  /** Milliseconds from its first answer to its last. */
  readonly since: number;
  readonly until: number;
}

/** What is known of a demo that runs: a value, so that it can be looked at and drawn anew at any time. */
export type DemoProgress = ReadonlyMap<Condition, Standing>;

const BAR_WIDTH = 20;
const NAME_WIDTH = 9;

/** `at` is when it was heard of, in milliseconds. */
export function noteDemo(progress: DemoProgress, event: DemoEvent, at: number): DemoProgress {
  const { condition } = event.type === 'night' ? event : event.row;
  const before = progress.get(condition);
  return new Map(progress).set(condition, before === undefined ? begun(event, at) : heard(before, event, at));
}

const begun = (event: DemoEvent, at: number): Standing =>
  heard({ asked: 0, questions: 0, seed: 1, day: 0, files: 0, complete: 0, since: at, until: at }, event, at);

function heard({ night: _, ...before }: Standing, event: DemoEvent, at: number): Standing {
  if (event.type === 'night') {
    const { step, steps, pairs, day, seed } = event;
    return { ...before, day, seed, night: { step, steps, pairs }, until: at };
  }
  const { asked, questions, row } = event;
  const isTask = row.kind === 'files';
  return {
    ...before,
    asked,
    questions,
    seed: row.seed,
    day: row.day,
    files: before.files + Number(isTask),
    complete: before.complete + Number(isTask && row.passed === true),
    until: at,
  };
}

export interface DemoSize extends Pick<DemoPlan, 'days'> {
  readonly seeds: number;
}

/** A line for each condition, those that wait too. */
export const demoLines = (
  progress: DemoProgress,
  conditions: readonly Condition[],
  size: DemoSize,
): readonly string[] =>
  conditions.map((condition) => {
    const standing = progress.get(condition);
    const name = condition.padEnd(NAME_WIDTH);
    if (standing === undefined) return `${name}${'░'.repeat(BAR_WIDTH)} waits`;
    const { asked, questions } = standing;
    const filled = questions === 0 ? 0 : Math.floor((asked / questions) * BAR_WIDTH);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
    return `${name}${bar} ${placeOf(standing, size)} · ${completionOf(standing)}`;
  });

/** The same of one condition, where lines cannot change. */
export const demoLine = (progress: DemoProgress, condition: Condition, size: DemoSize): string => {
  const standing = progress.get(condition);
  return standing === undefined
    ? `${condition} waits`
    : `${condition} · ${placeOf(standing, size)} · ${completionOf(standing)}`;
};

function placeOf({ asked, questions, seed, day, night, since, until }: Standing, size: DemoSize): string {
  const ofSeed = size.seeds > 1 ? `seed ${seed} · ` : '';
  if (night !== undefined) return `${ofSeed}${nightWords({ day, ...night })}`;
  if (asked === questions)
    return `${size.days} ${size.days === 1 ? 'day' : 'days'} in ${timeOf(until - since)}`;
  return `${ofSeed}day ${day + 1} of ${size.days}`;
}

const completionOf = ({ files, complete }: Standing): string =>
  files === 0
    ? 'no task yet'
    : `${((complete / files) * 100).toFixed(1)} % of ${files} ${files === 1 ? 'task' : 'tasks'} complete`;

const timeOf = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${(ms / 60_000).toFixed(1)} min`;
