import { DEMO_CONDITIONS, type DemoEvent } from '../app/bench/run-demo.ts';
import type { CommandContext } from './context.ts';
import { type DemoProgress, type DemoSize, demoLine, demoLines, noteDemo } from './demo-progress.ts';

export interface DemoScreen {
  note(event: DemoEvent): void;
  /** Leaves the last state standing. */
  end(): void;
}

const EVERY_MS = 100;

/** A line for each condition that changes on a terminal; elsewhere a line when a day is over or a night is; nothing for a program. */
export function showDemo({ stderr, printer }: CommandContext, size: DemoSize): DemoScreen {
  if (printer.json) return { note: () => undefined, end: () => undefined };
  let progress: DemoProgress = new Map();
  const hear = (event: DemoEvent): void => {
    progress = noteDemo(progress, event, performance.now());
  };
  if (stderr.isTTY !== true) return plain(stderr, size, hear, () => progress);
  let drawnAt = Number.NEGATIVE_INFINITY;
  let drawn = 0;
  const draw = (): void => {
    const lines = demoLines(progress, DEMO_CONDITIONS, size);
    const back = drawn === 0 ? '' : `\u001b[${drawn}A`;
    // A line that the terminal would break in two could not be drawn over.
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
      hear(event);
      if (performance.now() - drawnAt >= EVERY_MS) draw();
    },
    end: draw,
  };
}

function plain(
  stderr: CommandContext['stderr'],
  size: DemoSize,
  hear: (event: DemoEvent) => void,
  progress: () => DemoProgress,
): DemoScreen {
  let before: DemoEvent | undefined;
  const tell = (): void => {
    if (before === undefined) return;
    const { condition } = before.type === 'night' ? before : before.row;
    stderr.write(`${demoLine(progress(), condition, size)}\n`);
  };
  return {
    note: (event) => {
      // What was last heard of a day, or of a night, is what it came to.
      if (before !== undefined && partOf(before) !== partOf(event)) tell();
      hear(event);
      before = event;
    },
    end: tell,
  };
}

function partOf(event: DemoEvent): string {
  const { condition, seed, day } = event.type === 'night' ? event : event.row;
  const part = event.type === 'night' ? (event.pairs === 0 ? 'steps' : 'pairs') : 'day';
  return `${condition} ${seed} ${day} ${part}`;
}
