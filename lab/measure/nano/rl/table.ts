import { wilsonInterval } from '../../../../src/stats/interval.ts';
import type { LessonWording, PassCounts } from './evaluate.ts';

export interface ScoreLine extends PassCounts {
  readonly what: string;
  readonly words: LessonWording;
  readonly temperature: number;
}

/** The cost of one training. */
export interface TrainingSpeed {
  readonly what: string;
  readonly seconds: number;
  /** Sampled tokens that trained. */
  readonly tokens: number;
  readonly rollbacks: number;
  /** Seconds of processor time in the engine's process. */
  readonly engineCpu: number;
  /** The share of wall time without a request at the engine. */
  readonly ownShare: number;
}

interface TableOptions {
  readonly lines: readonly ScoreLine[];
  readonly speeds: readonly TrainingSpeed[];
  readonly steps: number;
  readonly batch: number;
  readonly seconds: number;
  readonly peak: number;
}

const WORDS: Readonly<Record<LessonWording, string>> = {
  none: 'none',
  seen: 'seen wordings',
  unseen: 'unseen wordings',
  slugs: 'unseen names, seen wordings',
};
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

function wilson(part: number, of: number): string {
  const { low, high } = wilsonInterval(part, of);
  return `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`;
}

export function resultsTable({ lines, speeds, steps, batch, seconds, peak }: TableOptions): string {
  const date = new Date().toISOString().slice(0, 10);
  return [
    `${date}, Node ${process.versions.node}, ${steps} steps of ${batch} attempts (8 at each task), tasks of the gate split, all five rules.`,
    '',
    row(['', 'skills in the prompt', 'T', 'tasks', 'every check', '95 %', 'task alone']),
    row(['---', '---', '---', '---', '---', '---', '---']),
    ...lines.map(({ what, words, temperature, passed, done, of }) =>
      row([
        what,
        WORDS[words],
        temperature,
        of,
        `${((100 * passed) / of).toFixed(1)} %`,
        wilson(passed, of),
        `${((100 * done) / of).toFixed(1)} %`,
      ]),
    ),
    '',
    row([
      'training',
      'wall time',
      'a step',
      'engine CPU',
      'outside the engine',
      'trained tokens/s',
      'rolled back',
    ]),
    row(['---', '---', '---', '---', '---', '---', '---']),
    ...speeds.map(({ what, seconds: took, tokens, engineCpu, ownShare, rollbacks }) =>
      row([
        what,
        `${took.toFixed(0)} s`,
        `${(took / steps).toFixed(2)} s`,
        `${engineCpu.toFixed(0)} s`,
        `${(100 * ownShare).toFixed(1)} %`,
        Math.round(tokens / took),
        rollbacks,
      ]),
    ),
    '',
    `Everything took ${seconds.toFixed(0)} s; the engine's process used at most ${(peak / 2 ** 20).toFixed(0)} MB.`,
  ].join('\n');
}
