import type { CommandContext } from '../../src/cli/context.ts';
import { DEMO_CONDITIONS, type DemoEvent, type DemoPlan } from '../demo/run-demo.ts';
import type { BenchRun } from '../run/run-bench.ts';
import type { Condition } from '../suite/arms.ts';

type NightProgress = Omit<Extract<DemoEvent, { readonly type: 'night' }>, 'type'>;

/** The progress of a night: first training steps, then paired comparisons with the serving weights. */
function describeNight({
  day,
  step,
  steps,
  pairs,
}: Pick<NightProgress, 'day' | 'step' | 'steps' | 'pairs'>): string {
  const work =
    pairs === 0 ? `step ${step} of ${steps}` : `${pairs} ${pairs === 1 ? 'pair' : 'pairs'} compared`;
  return `night after day ${day + 1}: ${work}`;
}

type Progress = Parameters<BenchRun['onProgress']>[0];

interface ProgressLine {
  show(progress: Progress): void;
  /** Between two days, where weights are trained. */
  night(night: NightProgress): void;
  end(): void;
}

const WIDTH = 24;
const EVERY_MS = 100;

/**
 * Shows the progress of a run: one changing line on a terminal, one line per day elsewhere, nothing with `--json`. The
 * suite gives the words for its days and for what it counts.
 */
export function showProgress(
  { stderr, printer }: CommandContext,
  [part, counted]: readonly [part: string, counted: string],
): ProgressLine {
  if (printer.json) return { show: () => undefined, night: () => undefined, end: () => undefined };
  const isLive = stderr.isTTY === true;
  let shownAt = Number.NEGATIVE_INFINITY;
  let before = '';
  let bar = '';
  const draw = (text: string, isDue: boolean): void => {
    const now = performance.now();
    if (now - shownAt < EVERY_MS && !isDue) return;
    shownAt = now;
    stderr.write(`\r\u001b[K${bar} ${text}`);
  };
  /** Without a terminal, each line is written once. */
  const writeOnce = (line: string, place = line): void => {
    if (place !== before) stderr.write(`${line}\n`);
    before = place;
  };
  return {
    show: ({ condition, seed, day, days, asked, questions }) => {
      const place = `${condition} · seed ${seed} · ${part} ${day + 1} of ${days}`;
      if (!isLive) return writeOnce(`${place} · ${asked} of ${questions} ${counted}`, place);
      const filled = Math.round((asked / Math.max(1, questions)) * WIDTH);
      bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${asked} of ${questions}`;
      draw(`· ${place}`, asked === questions);
    },
    night: (night) => {
      const place = `${night.condition} · seed ${night.seed}`;
      if (isLive) draw(`· ${place} · ${describeNight(night)}`, false);
      else writeOnce(`${place} · night after day ${night.day + 1}`);
    },
    end: () => {
      if (isLive) stderr.write('\r\u001b[K');
    },
  };
}

/** The progress of one condition. */
interface ConditionProgress {
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

/** The progress of a running demo, as an immutable value that can be drawn at any time. */
type DemoProgress = ReadonlyMap<Condition, ConditionProgress>;

const BAR_WIDTH = 20;
const NAME_WIDTH = 12;

/** `at`: the time of the event, in milliseconds. */
export function noteDemo(progress: DemoProgress, event: DemoEvent, at: number): DemoProgress {
  const { condition } = event.type === 'night' ? event : event.row;
  const before = progress.get(condition);
  return new Map(progress).set(
    condition,
    before === undefined ? firstProgress(event, at) : addEvent(before, event, at),
  );
}

const firstProgress = (event: DemoEvent, at: number): ConditionProgress =>
  addEvent(
    { asked: 0, questions: 0, seed: 1, day: 0, files: 0, complete: 0, since: at, until: at },
    event,
    at,
  );

function addEvent(
  { night: _, ...before }: ConditionProgress,
  event: DemoEvent,
  at: number,
): ConditionProgress {
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

interface DemoSize extends Pick<DemoPlan, 'days'> {
  readonly seeds: number;
}

/** One line per condition, including those that have not started. */
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

/** The line of one condition, for output without a terminal. */
export const demoLine = (progress: DemoProgress, condition: Condition, size: DemoSize): string => {
  const standing = progress.get(condition);
  return standing === undefined
    ? `${condition} waits`
    : `${condition} · ${placeOf(standing, size)} · ${completionOf(standing)}`;
};

function placeOf(
  { asked, questions, seed, day, night, since, until }: ConditionProgress,
  size: DemoSize,
): string {
  const ofSeed = size.seeds > 1 ? `seed ${seed} · ` : '';
  if (night !== undefined) return `${ofSeed}${describeNight({ day, ...night })}`;
  if (asked === questions)
    return `${size.days} ${size.days === 1 ? 'day' : 'days'} in ${timeOf(until - since)}`;
  return `${ofSeed}day ${day + 1} of ${size.days}`;
}

const completionOf = ({ files, complete }: ConditionProgress): string =>
  files === 0
    ? 'no task yet'
    : `${((complete / files) * 100).toFixed(1)} % of ${files} ${files === 1 ? 'task' : 'tasks'} complete`;

const timeOf = (ms: number): string =>
  ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${(ms / 60_000).toFixed(1)} min`;

interface DemoScreen {
  note(event: DemoEvent): void;
  /** Leaves the last state on the screen. */
  end(): void;
}

/** One changing line per condition on a terminal; elsewhere a line at the end of each day and night; nothing with `--json`. */
export function showDemo({ stderr, printer }: CommandContext, size: DemoSize): DemoScreen {
  if (printer.json) return { note: () => undefined, end: () => undefined };
  let progress: DemoProgress = new Map();
  const add = (event: DemoEvent): void => {
    progress = noteDemo(progress, event, performance.now());
  };
  if (stderr.isTTY !== true) return plain(stderr, size, add, () => progress);
  let drawnAt = Number.NEGATIVE_INFINITY;
  let drawn = 0;
  const draw = (): void => {
    const lines = demoLines(progress, DEMO_CONDITIONS, size);
    const back = drawn === 0 ? '' : `\u001b[${drawn}A`;
    // A line that wraps could not be overwritten.
    const width = (stderr as { readonly columns?: number }).columns ?? 80;
    stderr.write(
      `${back}${lines.map((line) => `\r\u001b[K${[...line].slice(0, width - 1).join('')}\n`).join('')}`,
    );
    drawn = lines.length;
    drawnAt = performance.now();
  };
  draw();
  return {
    note: (event) => {
      add(event);
      if (performance.now() - drawnAt >= EVERY_MS) draw();
    },
    end: draw,
  };
}

function plain(
  stderr: CommandContext['stderr'],
  size: DemoSize,
  add: (event: DemoEvent) => void,
  progress: () => DemoProgress,
): DemoScreen {
  let before: DemoEvent | undefined;
  const write = (): void => {
    if (before === undefined) return;
    const { condition } = before.type === 'night' ? before : before.row;
    stderr.write(`${demoLine(progress(), condition, size)}\n`);
  };
  return {
    note: (event) => {
      // The last event of a day or night is its result.
      if (before !== undefined && partOf(before) !== partOf(event)) write();
      add(event);
      before = event;
    },
    end: write,
  };
}

function partOf(event: DemoEvent): string {
  const { condition, seed, day } = event.type === 'night' ? event : event.row;
  const part = event.type === 'night' ? (event.pairs === 0 ? 'steps' : 'pairs') : 'day';
  return `${condition} ${seed} ${day} ${part}`;
}
