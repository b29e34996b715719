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
   * what serves now. Versions only grow.
   */
  next(live: number): OpenRun;
  propose(checkpoint: Checkpoint): void;
  leave(): void;
}

interface Page {
  readonly number: number;
  readonly from: Checkpoint | undefined;
  readonly firstVersion: number;
  readonly proposed: readonly Checkpoint[];
  /** The last of its weights that were seen to serve. */
  readonly served: number | undefined;
  readonly isLeft: boolean;
}

const KEPT = 50;

export function openRunBook(file: string): RunBook {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  let page = readPage(file);
  const write = (next: Page): void => {
    page = next;
    writeFileSync(`${file}.new`, JSON.stringify(page), { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  };
  return {
    next: (live) => {
      const { proposed } = page;
      const isOurs = proposed.some(({ version }) => version === live);
      const wasTurnedBack = page.served !== undefined && live < page.served;
      if (page.isLeft || wasTurnedBack) {
        const highest = Math.max(live, ...proposed.map(({ version }) => version));
        write({
          number: page.number + 1,
          from: proposed.find(({ version }) => version === live),
          firstVersion: highest + 1,
          proposed,
          served: undefined,
          isLeft: false,
        });
      } else write({ ...page, served: isOurs ? live : page.served });
      return { name: `run-${page.number}`, from: page.from, firstVersion: page.firstVersion };
    },
    propose: (checkpoint) => write({ ...page, proposed: [...page.proposed, checkpoint].slice(-KEPT) }),
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
  const { number, from, firstVersion, proposed, served, isLeft } = asObject(parseJson(text));
  return {
    number: asNumber(number) ?? 1,
    from: readCheckpoint(from),
    firstVersion: asNumber(firstVersion) ?? 0,
    proposed: asArray(proposed).flatMap((one) => readCheckpoint(one) ?? []),
    served: asNumber(served),
    isLeft: isLeft === true,
  };
}

function readCheckpoint(value: Json | undefined): Checkpoint | undefined {
  const read = asObject(value);
  const [version, state, sampler] = [asNumber(read.version), asString(read.state), asString(read.sampler)];
  if (version === undefined || state === undefined || sampler === undefined) return undefined;
  return { version, state, sampler };
}
