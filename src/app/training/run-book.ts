import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { replaceFileSync } from '../../base/atomic-file.ts';
import { asArray, asNumber, asObject, asString, type Json, parseJson } from '../../core/json.ts';
import type { Checkpoint } from '../../train/step-journal.ts';

/** The run that the next window continues. */
export interface OpenRun {
  readonly name: string;
  /** Its first checkpoint; undefined: a new adapter with version `firstVersion`. */
  readonly from: Checkpoint | undefined;
  readonly firstVersion: number;
}

/** Which run is current, across windows. Every change is on disk when the call returns. */
export interface RunBook {
  /**
   * The current run continues until it was abandoned or weights of it were rolled back after serving; then a new run starts
   * from the live weights. Versions only grow: the first checkpoint of a run gets a new version.
   */
  next(live: number, turnedBack: readonly number[]): OpenRun;
  propose(checkpoint: Checkpoint): void;
  /** A window got stuck. The run is abandoned when retrying is useless, or after several windows without progress. */
  stop(cameFurther: boolean, isRetryable: boolean): void;
  leave(): void;
}

interface Page {
  readonly number: number;
  readonly from: Checkpoint | undefined;
  readonly firstVersion: number;
  readonly proposed: readonly Checkpoint[];
  /** Consecutive windows without progress. */
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
    replaceFileSync(file, JSON.stringify(page));
  };
  return {
    next: (live, turnedBack) => {
      const { proposed, firstVersion } = page;
      // Versions after the run's first are its own; earlier ones belong to other runs.
      const wasTurnedBack = turnedBack.some((version) => version > firstVersion);
      if (page.isLeft || wasTurnedBack) {
        const highest = Math.max(
          live,
          firstVersion,
          ...turnedBack,
          ...proposed.map(({ version }) => version),
        );
        const serving = proposed.find(({ version }) => version === live);
        // A checkpoint that a run could not start from is not tried again.
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
