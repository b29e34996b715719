import type { CommandContext } from '../../src/cli/context.ts';
import type { BenchRun } from '../suites/run-bench.ts';

type NightProgress = Parameters<NonNullable<BenchRun['onNight']>>[0];

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
