import type { BenchRun } from '../app/bench/run-bench.ts';
import type { CommandContext } from './context.ts';

type Progress = Parameters<BenchRun['onProgress']>[0];

export interface ProgressLine {
  show(progress: Progress): void;
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
  if (printer.json) return { show: () => undefined, end: () => undefined };
  const isLive = stderr.isTTY === true;
  let shownAt = Number.NEGATIVE_INFINITY;
  let before = '';
  return {
    show: ({ condition, seed, day, days, asked, questions }) => {
      const place = `${condition} · seed ${seed} · ${part} ${day + 1} of ${days}`;
      if (!isLive) {
        if (place !== before) stderr.write(`${place} · ${asked} of ${questions} ${counted}\n`);
        before = place;
        return;
      }
      const now = performance.now();
      if (now - shownAt < EVERY_MS && asked < questions) return;
      shownAt = now;
      const filled = Math.round((asked / Math.max(1, questions)) * WIDTH);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
      stderr.write(`\r\u001b[K${bar} ${asked} of ${questions} · ${place}`);
    },
    end: () => {
      if (isLive) stderr.write('\r\u001b[K');
    },
  };
}
