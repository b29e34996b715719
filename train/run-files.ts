import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { replaceFileSync } from '../src/base/atomic-file.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../src/core/json.ts';
import { isAttemptId } from '../src/core/principal.ts';
import { isRecordedTask } from './recorded-tasks.ts';
import { DEFAULT_GUARD } from './reward-guard.ts';
import { openRunLog, type RunCheckpoint, type RunEntry, type RunJournal } from './run-journal.ts';

interface Line {
  readonly place: number;
  readonly entry: RunEntry;
}

/**
 * A run's journal in a file of the home, which belongs to one daemon. Opening it drops the attempts of closed batches: they
 * are most of the file and are not needed again. Attempts at recorded tasks are never written, and are made again after an
 * interruption; attempts of practice are in the record. So users' words are only there, and erasing them there is enough.
 */
export function openFileJournal(file: string): RunJournal & { close(): void } {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const before = existsSync(file) ? readLines(readFileSync(file, 'utf8')) : [];
  const kept = forget(before);
  let places = (before.at(-1)?.place ?? -1) + 1;
  if (kept.length < before.length) {
    const text = kept.map((line) => `${JSON.stringify(line)}\n`).join('');
    replaceFileSync(file, text);
  }
  const descriptor = openSync(file, 'a', 0o600);
  // After a kill the last line may be incomplete: the next entry must start on a new line.
  if (before.length > 0) writeSync(descriptor, '\n');
  return {
    read: async () => ({ entries: kept.map(({ entry }) => entry), places }),
    append: async (entry, place) => {
      if (place !== places) throw new Error(`entry ${place} of the run already exists`);
      if (!isOfRecord(entry)) {
        writeSync(descriptor, `${JSON.stringify({ place, entry })}\n`);
        fsyncSync(descriptor);
      }
      places++;
    },
    close: () => closeSync(descriptor),
  };
}

/** Whether it has the tokens of somebody's words. */
function isOfRecord(entry: RunEntry): boolean {
  if (entry.type === 'examples-kept') return entry.rollouts.some(({ task }) => isRecordedTask(task));
  if (entry.type !== 'group-collected') return false;
  const { task, rollouts } = entry.group;
  return isRecordedTask(task) || rollouts.some(({ id }) => isAttemptId(id));
}

const readLines = (text: string): readonly Line[] =>
  text.split('\n').flatMap((line): readonly Line[] => {
    const read = parseJson(line);
    return isLine(read) ? [read] : [];
  });

/** Only this file writes the journal: a line that is complete JSON has all of its members. */
const isLine = (value: Json | undefined): value is JsonObject & Line =>
  isObject(value) && asNumber(value.place) !== undefined && isObject(value.entry);

function forget(lines: readonly Line[]): readonly Line[] {
  const closed = new Set(
    lines.flatMap(({ entry }) => {
      const isClosing =
        entry.type === 'step-ended' || entry.type === 'step-refused' || entry.type === 'rolled-back';
      return isClosing ? [entry.batch] : [];
    }),
  );
  const isTaught = lines.some(({ entry }) => entry.type === 'taught' && entry.isLast);
  const isDone = (entry: RunEntry): boolean =>
    entry.type === 'examples-kept' ? isTaught : entry.type === 'group-collected' && closed.has(entry.batch);
  // The last line has the number of entries: it always stays.
  return lines.filter(({ entry }, at) => !isDone(entry) || at === lines.length - 1);
}

/** The run that the next window continues. */
interface OpenRun {
  readonly name: string;
  /** Its first checkpoint; undefined: a new adapter with version `firstVersion`. */
  readonly from: RunCheckpoint | undefined;
  readonly firstVersion: number;
}

/** What its windows train: attempts that are compared, or replies that are learned without their lessons. */
type RunKind = 'compared' | 'remembered';

/** Which run is current, across windows. Every change is on disk when the call returns. */
interface RunRegistry {
  /**
   * The current run continues until it was abandoned or weights of it were rolled back after serving; then a new run starts
   * from the live weights, and so for a run of another kind. Versions only grow: the first checkpoint of a run gets a new version.
   */
  next(live: number, turnedBack: readonly number[], kind?: RunKind): OpenRun;
  /** Goes on from weights that another process trained for this policy, where they are newer than all that is known here. */
  adopt(checkpoint: RunCheckpoint, known: readonly number[]): void;
  propose(checkpoint: RunCheckpoint): void;
  /** A window got stuck. The run is abandoned when retrying is useless, or after several windows without progress. */
  stop(cameFurther: boolean, isRetryable: boolean): void;
  leave(): void;
}

interface Page {
  readonly number: number;
  readonly from: RunCheckpoint | undefined;
  readonly firstVersion: number;
  readonly proposed: readonly RunCheckpoint[];
  /** Consecutive windows without progress. */
  readonly stalled: number;
  readonly isLeft: boolean;
  readonly kind: RunKind;
}

const KEPT = 50;
const MOST_STALLED = 3;

export function openRunRegistry(file: string): RunRegistry {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  let page = readPage(file);
  const write = (next: Page): void => {
    page = next;
    replaceFileSync(file, JSON.stringify(page));
  };
  return {
    next: (live, turnedBack, kind = 'compared') => {
      const { proposed, firstVersion } = page;
      // Versions after the run's first are its own; earlier ones belong to other runs.
      const wasTurnedBack = turnedBack.some((version) => version > firstVersion);
      if (page.isLeft || wasTurnedBack || page.kind !== kind) {
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
          kind,
        });
      }
      return { name: `run-${page.number}`, from: page.from, firstVersion: page.firstVersion };
    },
    adopt: (checkpoint, known) => {
      const { version } = checkpoint;
      const own = [...known, page.firstVersion, ...page.proposed.map((one) => one.version)];
      if (own.some((one) => one >= version)) return;
      const number = page.number + 1;
      write({ ...page, number, from: checkpoint, firstVersion: version, stalled: 0, isLeft: false });
    },
    propose: (checkpoint) => write({ ...page, proposed: [...page.proposed, checkpoint].slice(-KEPT) }),
    stop: (cameFurther, isRetryable) => {
      const stalled = cameFurther ? 0 : isRetryable ? page.stalled + 1 : MOST_STALLED;
      write({ ...page, stalled, isLeft: page.isLeft || !isRetryable || stalled >= MOST_STALLED });
    },
    leave: () => write({ ...page, isLeft: true }),
  };
}

/** What the run that the next window continues was trained on, and its versions. Writes nothing. */
export async function peekRun(
  folder: string,
): Promise<{ readonly versions: readonly number[]; readonly trained: ReadonlySet<string> }> {
  const { number, firstVersion, isLeft } = readPage(path.join(folder, 'runs.json'));
  // A new run begins with a version that has answered nothing yet.
  if (isLeft) return { versions: [], trained: new Set() };
  const file = path.join(folder, `run-${number}.jsonl`);
  if (!existsSync(file)) return { versions: [firstVersion], trained: new Set() };
  const journal = openFileJournal(file);
  try {
    const { lineage, trained } = (await openRunLog(journal, DEFAULT_GUARD)).run;
    return { versions: lineage.map(({ version }) => version), trained };
  } finally {
    journal.close();
  }
}

function readPage(file: string): Page {
  let text = '{}';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const { number, from, firstVersion, proposed, stalled, isLeft, kind } = asObject(parseJson(text));
  return {
    number: asNumber(number) ?? 1,
    from: readCheckpoint(from),
    firstVersion: asNumber(firstVersion) ?? 0,
    proposed: asArray(proposed).flatMap((one) => readCheckpoint(one) ?? []),
    stalled: asNumber(stalled) ?? 0,
    isLeft: isLeft === true,
    kind: kind === 'remembered' ? kind : 'compared',
  };
}

/** Undefined for what is no checkpoint. */
export function readCheckpoint(value: Json | undefined): RunCheckpoint | undefined {
  const read = asObject(value);
  const [version, state, sampler] = [asNumber(read.version), asString(read.state), asString(read.sampler)];
  if (version === undefined || state === undefined || sampler === undefined) return undefined;
  return { version, state, sampler };
}
