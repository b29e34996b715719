import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { parseJournalLine } from '../bench-journal.ts';
import type { Review } from './stages/review.ts';

/** Without lessons in the prompts, or with them; everything else is the same. This suite trains no weights. */
export type PipelineCondition = 'baseline' | 'skills';

/**
 * How a stage ended. `blocked`: a stage it depends on did not complete. `interrupted`: the model was unavailable or the run was
 * aborted; that says nothing about the work.
 */
export type StageEndStatus = 'completed' | 'failed' | 'blocked' | 'interrupted';

/** One stage of one run. */
export interface StageRecord {
  readonly stage: string;
  readonly kind: 'model' | 'code';
  readonly isScorable: boolean;
  readonly status: StageEndStatus;
  /** Attempts, without those that an outage ended. */
  readonly attempts: number;
  /** Refine cycles over all attempts. */
  readonly refines: number;
  /** Conventions that the first answer broke. */
  readonly broken: readonly string[];
  /** Why it was sent back or failed, each once. */
  readonly reasons: readonly string[];
  /** Ids of the lessons in its first prompt. */
  readonly lessons: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly ms: number;
  /** What each reviewer made of the paper; absent for other stages, and in runs of earlier versions. */
  readonly reviews?: readonly Review[];
}

/** One run of the whole pipeline, a record for each stage in order. */
export interface PipelineRun {
  readonly run: number;
  readonly stages: readonly StageRecord[];
}

/** How a run of the suite was configured; the journal's first line. */
export interface PipelineHead {
  readonly run: string;
  readonly suite: 'pipeline';
  readonly options: Readonly<Record<string, string | number | boolean>>;
  readonly policy: string;
  readonly conditions: readonly PipelineCondition[];
  readonly seeds: readonly number[];
  /** Successive runs under each condition and seed; the first only teaches. */
  readonly runs: number;
  /** Stages of a run that are scored. */
  readonly scored: number;
  /** The most refine cycles that a stage can take. */
  readonly mostRefines: number;
  /** Conventions that no prompt states: the failure modes that can be learned. */
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

/** One run from the idea to the review, with the lessons after it: a line of the journal. */
export interface FinishedRun extends PipelineRun {
  readonly condition: PipelineCondition;
  readonly seed: number;
  /** All lessons after the run had been learned from. */
  readonly lessons: readonly RunLesson[];
  /** Milliseconds spent in the policy itself. */
  readonly policyMs: number;
}

export interface RunLesson {
  readonly id: string;
  /** Written by a model. */
  readonly name: string;
  readonly state: string;
  /** The conventions that it teaches. */
  readonly teaches: readonly string[];
}

/** Everything a report is made from. */
export interface PipelineJournal {
  readonly head: PipelineHead;
  readonly runs: readonly FinishedRun[];
}

export interface PipelineJournalWriter {
  /** The run is complete; on disk when it returns. */
  run(run: FinishedRun): void;
  /** Discards the runs of a condition and seed: they start again with the first one. */
  begin(condition: PipelineCondition, seed: number): void;
  close(): void;
}

/** Appends to a journal. `done` is its content; without it the head is written first. */
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
  // The last line may have been cut short by a kill: the next one must not be appended to it.
  writeSync(descriptor, '\n');
  if (done === undefined) write({ type: 'head', ...head });
  return {
    run: (run) => write({ type: 'run', ...run }),
    begin: (condition, seed) => write({ type: 'begin', condition, seed }),
    close: () => closeSync(descriptor),
  };
}

type PipelineLine =
  | ({ readonly type: 'head' } & PipelineHead)
  | ({ readonly type: 'run' } & FinishedRun)
  | ({ readonly type: 'begin' } & RunKey);

type RunKey = Pick<FinishedRun, 'condition' | 'seed'>;

/**
 * Lines that a kill cut short do not count, nor does a run whose predecessor is missing: what its prompts contained is unknown.
 * Undefined when there is no head, or it is another suite's.
 */
export function readPipelineJournal(text: string): PipelineJournal | undefined {
  let head: PipelineHead | undefined;
  const finished = new Map<string, FinishedRun[]>();
  for (const part of text.split('\n')) {
    const line = parseJournalLine<PipelineLine>(part);
    if (line?.type === 'head') {
      const { type: _, ...first } = line;
      head ??= first;
    } else if (line?.type === 'begin') finished.delete(keyOf(line));
    else if (line?.type === 'run') {
      const { type: _, ...run } = line;
      const held = finished.get(keyOf(run)) ?? [];
      if (run.run === held.length + 1) finished.set(keyOf(run), [...held, run]);
    }
  }
  if (head?.suite !== 'pipeline') return undefined;
  const { seeds, conditions } = head;
  const runs = seeds.flatMap((seed) =>
    conditions.flatMap((condition) => finished.get(keyOf({ condition, seed })) ?? []),
  );
  return { head, runs };
}

/** Undefined when there is no such file or it contains no run of this suite. */
export const loadPipelineJournal = (file: string): PipelineJournal | undefined =>
  existsSync(file) ? readPipelineJournal(readFileSync(file, 'utf8')) : undefined;

const keyOf = ({ condition, seed }: RunKey): string => `${condition} ${seed}`;
