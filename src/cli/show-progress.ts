import type { BenchRun } from '../app/bench/run-bench.ts';
import type { CommandContext } from './context.ts';
import { type NightProgress, nightWords } from './night-words.ts';

type Progress = Parameters<BenchRun['onProgress']>[0];

export interface ProgressLine {
  show(progress: Progress): void;
  /** Between two days, where weights are trained. */
  night(night: NightProgress): void;
  end(): void;
}

const WIDTH = 24;
const EVERY_MS = 100;

/**
 * How far a run has come: one line that changes on a terminal, a line a day elsewhere, nothing for a program. A suite has
 * words of its own for its days and for what it counts.
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
  /** Where lines stay, each is said once. */
  const say = (line: string, place = line): void => {
    if (place !== before) stderr.write(`${line}\n`);
    before = place;
  };
  return {
    show: ({ condition, seed, day, days, asked, questions }) => {
      const place = `${condition} · seed ${seed} · ${part} ${day + 1} of ${days}`;
      if (!isLive) return say(`${place} · ${asked} of ${questions} ${counted}`, place);
      const filled = Math.round((asked / Math.max(1, questions)) * WIDTH);
      bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${asked} of ${questions}`;
      draw(`· ${place}`, asked === questions);
    },
    night: (night) => {
      const place = `${night.condition} · seed ${night.seed}`;
      if (isLive) draw(`· ${place} · ${nightWords(night)}`, false);
      else say(`${place} · night after day ${night.day + 1}`);
    },
    end: () => {
      if (isLive) stderr.write('\r\u001b[K');
    },
  };
}
