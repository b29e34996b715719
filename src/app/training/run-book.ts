import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { asArray, asNumber, asObject, asString, type Json, parseJson } from '../../core/json.ts';
import type { Checkpoint } from '../../train/step-journal.ts';

/** A run of training as the next window is to take it up. */
export interface OpenRun {
  readonly name: string;
  /** What it begins with; undefined: a new adapter of this first version. */
  readonly from: Checkpoint | undefined;
  readonly firstVersion: number;
}

/** Which run is under way, over all windows. On the disk when a call returns. */
export interface RunBook {
  /**
   * The run goes on until weights of it that served have been turned back, or it was left: then another begins, with
   * what serves now. Versions only grow: what a run begins with has a number of its own there.
   */
  next(live: number, turnedBack: readonly number[]): OpenRun;
  propose(checkpoint: Checkpoint): void;
  /** A window could not go on. Where it never will, and where several in a row came no further, the run is left. */
  stop(cameFurther: boolean, isRetryable: boolean): void;
  leave(): void;
}

interface Page {
  readonly number: number;
  readonly from: Checkpoint | undefined;
  readonly firstVersion: number;
  readonly proposed: readonly Checkpoint[];
  /** Windows in a row that came no further. */
  readonly stalled: number;
  readonly isLeft: boolean;
}

const KEPT = 50;
const MOST_STALLED = 3;

export function openRunBook(file: string): RunBook {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  let page = readPage(file);
  const write = (next: Page): void => {
    page = next;
    writeFileSync(`${file}.new`, JSON.stringify(page), { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  };
  return {
    next: (live, turnedBack) => {
      const { proposed, firstVersion } = page;
      // A run's own versions come after its first: before it are those of others.
      const wasTurnedBack = turnedBack.some((version) => version > firstVersion);
      if (page.isLeft || wasTurnedBack) {
        const highest = Math.max(
          live,
          firstVersion,
          ...turnedBack,
          ...proposed.map(({ version }) => version),
        );
        const serving = proposed.find(({ version }) => version === live);
        // What nobody could begin with once is not tried again.
        const isLost = page.stalled >= MOST_STALLED && page.from?.state === serving?.state;
        write({
          number: page.number + 1,
          from: serving === undefined || isLost ? undefined : { ...serving, version: highest + 1 },
          firstVersion: highest + 1,
          proposed,
          stalled: 0,
          isLeft: false,
        });
      }
      return { name: `run-${page.number}`, from: page.from, firstVersion: page.firstVersion };
    },
    propose: (checkpoint) => write({ ...page, proposed: [...page.proposed, checkpoint].slice(-KEPT) }),
    stop: (cameFurther, isRetryable) => {
      const stalled = cameFurther ? 0 : isRetryable ? page.stalled + 1 : MOST_STALLED;
      write({ ...page, stalled, isLeft: page.isLeft || !isRetryable || stalled >= MOST_STALLED });
    },
    leave: () => write({ ...page, isLeft: true }),
  };
}

function readPage(file: string): Page {
  let text = '{}';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const { number, from, firstVersion, proposed, stalled, isLeft } = asObject(parseJson(text));
  return {
    number: asNumber(number) ?? 1,
    from: readCheckpoint(from),
    firstVersion: asNumber(firstVersion) ?? 0,
    proposed: asArray(proposed).flatMap((one) => readCheckpoint(one) ?? []),
    stalled: asNumber(stalled) ?? 0,
    isLeft: isLeft === true,
  };
}

function readCheckpoint(value: Json | undefined): Checkpoint | undefined {
  const read = asObject(value);
  const [version, state, sampler] = [asNumber(read.version), asString(read.state), asString(read.sampler)];
  if (version === undefined || state === undefined || sampler === undefined) return undefined;
  return { version, state, sampler };
}
