import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { asNumber, asString, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { PipelineCondition, PipelineRun } from './pipeline-run.ts';

/** What a run of the suite was; the journal's first line. */
export interface PipelineHead {
  readonly run: string;
  readonly suite: 'pipeline';
  readonly options: Readonly<Record<string, string | number | boolean>>;
  readonly policy: string;
  readonly conditions: readonly PipelineCondition[];
  readonly seeds: readonly number[];
  /** Successive runs under each condition and seed; the first teaches. */
  readonly runs: number;
  /** Stages of a run that are scored. */
  readonly scored: number;
  /** The most refine cycles that a stage can take. */
  readonly mostRefines: number;
  /** What the house wants and no prompt says: the failure modes that can be learned. */
  readonly conventions: readonly {
    readonly id: string;
    readonly title: string;
    readonly stages: readonly string[];
  }[];
  readonly startedAt: string;
  readonly version: string;
  /** What a reader should know. */
  readonly notes: readonly string[];
}

/** One run from the idea to the review, and what was known after it: a line of the journal. */
export interface FinishedRun extends PipelineRun {
  readonly condition: PipelineCondition;
  readonly seed: number;
  /** Every lesson there was when all of the run had been learned from. */
  readonly lessons: readonly RunLesson[];
  /** Milliseconds that the policy itself took. */
  readonly policyMs: number;
}

export interface RunLesson {
  readonly id: string;
  /** Model text. */
  readonly name: string;
  readonly state: string;
  /** The conventions that it holds what one needs for. */
  readonly teaches: readonly string[];
}

/** All that a report is made from. */
export interface PipelineJournal {
  readonly head: PipelineHead;
  readonly runs: readonly FinishedRun[];
}

export interface PipelineJournalWriter {
  /** From here on the run counts; on disk when it returns. */
  run(run: FinishedRun): void;
  /** What was done of a condition and seed does not count: it begins with its first run again. */
  begin(condition: PipelineCondition, seed: number): void;
  close(): void;
}

/** Appends to a journal. `done` is what it holds; without it the head is written first. */
export function openPipelineJournal(
  file: string,
  head: PipelineHead,
  done: PipelineJournal | undefined,
): PipelineJournalWriter {
  const descriptor = openSync(file, 'a', 0o600);
  const write = (line: object): void => {
    writeSync(descriptor, `${JSON.stringify(line)}\n`);
    fsyncSync(descriptor);
  };
  // A line that a kill cut short must not swallow the next one.
  writeSync(descriptor, '\n');
  if (done === undefined) write({ type: 'head', ...head });
  return {
    run: (run) => write({ type: 'run', ...run }),
    begin: (condition, seed) => write({ type: 'begin', condition, seed }),
    close: () => closeSync(descriptor),
  };
}

/**
 * Lines that a kill cut short do not count, nor does a run whose predecessor is missing: what it was shown is not known.
 * Undefined when there is no head, or it is another suite's.
 */
export function readPipelineJournal(text: string): PipelineJournal | undefined {
  let head: PipelineHead | undefined;
  const finished = new Map<string, FinishedRun[]>();
  for (const part of text.split('\n')) {
    const line = parseJson(part);
    if (!isObject(line)) continue;
    const { type, ...rest } = line;
    // Lines are our own, written whole: what parses is what was meant.
    if (type === 'head') head ??= rest as unknown as PipelineHead;
    else if (type === 'begin') finished.delete(keyOf(rest));
    else if (type === 'run') {
      const held = finished.get(keyOf(rest)) ?? [];
      if (rest.run === held.length + 1) finished.set(keyOf(rest), [...held, rest as unknown as FinishedRun]);
    }
  }
  if (head?.suite !== 'pipeline') return undefined;
  const { seeds, conditions } = head;
  const runs = seeds.flatMap((seed) =>
    conditions.flatMap((condition) => finished.get(keyOf({ condition, seed })) ?? []),
  );
  return { head, runs };
}

/** Undefined when there is no such file or it holds no run of this suite. */
export const loadPipelineJournal = (file: string): PipelineJournal | undefined =>
  existsSync(file) ? readPipelineJournal(readFileSync(file, 'utf8')) : undefined;

const keyOf = ({ condition, seed }: JsonObject): string => `${asString(condition)} ${asNumber(seed)}`;
