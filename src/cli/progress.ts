import { duration } from '../text/phrases.ts';
import { cutToWidth } from '../text/text-width.ts';
import type { CommandContext } from './context.ts';
import { lineWidth } from './print.ts';

/** How far long work is. */
export interface ProgressState {
  /** What is done now, in a few words: `attempting`. */
  readonly phase: string;
  /** How many of how many; without `of` a count alone. */
  readonly done?: number;
  readonly of?: number;
  /** What it has cost so far, in words. */
  readonly cost?: string;
  /** Further words, cut off first on a narrow terminal. */
  readonly detail?: string;
}

export interface Progress {
  show(state: ProgressState): void;
  /** Removes the line from a terminal: the result follows. */
  clear(): void;
}

const BAR = 16;
/** Of a phase, before its pace says anything. */
const SETTLED_MS = 3_000;
/** Plain lines come at these shares of a phase, or when so much time has passed. */
const PLAIN_STEPS = 10;
const PLAIN_EVERY_MS = 30_000;

/**
 * The one way in which long work shows that it is alive, on standard error: one line that is rewritten and never wider than the
 * terminal; for a program that reads it a plain line now and then; nothing with `--json`.
 */
export function createProgress(
  { stderr, env, printer }: Pick<CommandContext, 'stderr' | 'env' | 'printer'>,
  now: () => number = () => performance.now(),
): Progress {
  const isLive = stderr.isTTY === true && env.TERM !== 'dumb';
  let phase = '';
  let begun = { at: 0, done: 0 };
  let plain = { step: -1, at: Number.NEGATIVE_INFINITY };
  let isShown = false;
  const timeLeft = ({ done = 0, of }: ProgressState): string | undefined => {
    const [made, passed] = [done - begun.done, now() - begun.at];
    if (of === undefined || made <= 0 || done >= of || passed < SETTLED_MS) return undefined;
    return `about ${duration((passed / made) * (of - done))} left`;
  };
  return {
    show: (state) => {
      if (printer.json) return;
      if (state.phase !== phase) {
        phase = state.phase;
        begun = { at: now(), done: state.done ?? 0 };
        plain = { step: -1, at: Number.NEGATIVE_INFINITY };
      }
      const { done, of, cost, detail } = state;
      const count = done === undefined ? undefined : of === undefined ? `${done}` : `${done} of ${of}`;
      const words = [count, timeLeft(state), cost, detail].filter(
        (part) => part !== undefined && part !== '',
      );
      if (isLive) {
        const bar = of === undefined || of === 0 ? '' : `${drawBar((done ?? 0) / of)} `;
        const line = `${phase}  ${bar}${words.join(' · ')}`.trimEnd();
        // One column is left free: a full line would wrap on some terminals.
        stderr.write(`\r\u001b[K${cutToWidth(line, (lineWidth(stderr, env) ?? 80) - 1)}`);
        isShown = true;
        return;
      }
      const step = of === undefined || of === 0 ? 0 : Math.floor((PLAIN_STEPS * (done ?? 0)) / of);
      if (step === plain.step && now() - plain.at < PLAIN_EVERY_MS) return;
      plain = { step, at: now() };
      stderr.write(`${[phase, ...words].join(', ')}\n`);
    },
    clear: () => {
      if (isShown) stderr.write('\r\u001b[K');
      isShown = false;
    },
  };
}

function drawBar(share: number): string {
  const filled = Math.round(BAR * Math.min(1, Math.max(0, share)));
  return `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`;
}
