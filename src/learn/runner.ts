import type { Log } from '../base/log.ts';
import { within } from '../base/within.ts';
import type { Clock } from '../core/clock.ts';
import { compact } from '../core/json.ts';
import type { Ask, DecidedChanges, Learner } from '../core/learn.ts';
import type { ChangeSet } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { NewFact } from '../core/store.ts';
import { titleOfNamed } from '../lessons/title.ts';
import { sourceOf } from '../text/who.ts';
import { type Cycle, type CycleEnd, type CycleOptions, runCycle } from './cycle.ts';
import type { LearningState } from './learning-state.ts';

/** Appends facts to the record, which are folded before the next round of learning. */
export type WriteFacts = (facts: readonly NewFact[]) => Promise<void>;

/** One piece of work: the evidence of one cycle, and what the end of the cycle means. */
export interface LearningPiece extends Omit<Cycle<unknown>, 'learner'> {
  /** In place of the row's: the distiller learns from what the evolver leaves. */
  readonly learn?: Learner<unknown>;
  readonly ask?: Ask | undefined;
  /** In place of the gate for words. */
  readonly gate?: CycleOptions['gate'];
  /** The facts that the end becomes. `isRetryable`: the same piece may succeed later. */
  readonly facts: (end: CycleEnd, isRetryable: boolean) => readonly NewFact[];
  readonly patience?: Patience;
}

/** How long the row waits for a model's answer. One that comes late is used when it comes. */
interface Patience {
  readonly ms: number;
  /** Written when the patience ends: a process that dies now has to know what was asked. */
  readonly meanwhile: readonly NewFact[];
  readonly onLate: (answered: Promise<void>) => void;
}

/** Facts of a learner about its own work, which change no lesson. */
export interface LearnerJournal {
  readonly journal: readonly NewFact[];
}

/** Decided changes as a piece of work: what a measurement decides is in the library, and needs no fact of its own. */
export const decidedPiece = (set: ChangeSet): LearningPiece => {
  const material: DecidedChanges = { set };
  return { id: set.id, material, cases: [], items: [], facts: () => [] };
};

/** The pieces of a row's work, one after another. Each `yield` answers with the end of its cycle; a journal, and a late answer, has none. */
export type LearningPieces = AsyncGenerator<LearningPiece | LearnerJournal, void, CycleEnd | undefined>;

/** A learner in the table (`learners`). */
export interface LearnerRow {
  readonly name: string;
  /** Whether there may be work. Cheap: it is asked in every round. */
  due(state: LearningState, now: number): boolean;
  /**
   * Selects the evidence, from where the learner's cursor stands in the facts. A run that was killed selects the same evidence again, and
   * the keys of its pieces make the repetition harmless. Ended early when learning stops.
   */
  material(state: LearningState): LearningPieces;
  /** Yields changes, and writes nothing. */
  readonly learn: Learner<unknown>;
  /** Also while learning is turned off: it only takes back. */
  readonly isAlways?: true;
  /** Logged when it fails: the other rows go on without it. Absent: the round fails and is tried again. */
  readonly fault?: string;
}

interface RunnerOptions {
  readonly library: Library;
  readonly gate: CycleOptions['gate'];
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** While it holds, only the rows that run always do. */
  readonly isKilled?: () => boolean;
}

/** What rows run on. */
interface RunRows {
  readonly state: LearningState;
  readonly write: WriteFacts;
  /** Asked before each piece; learning that is turned off stops in any case. */
  readonly isStopped?: () => boolean;
}

export interface Runner {
  /** Runs the rows that are due, in their order, each piece through `runCycle`. Answers with the ends. */
  run(rows: readonly LearnerRow[], on: RunRows): Promise<readonly CycleEnd[]>;
  /** Resolves when no model's answer is outstanding. */
  settled(): Promise<void>;
}

export function createRunner(options: RunnerOptions): Runner {
  const { clock, log, signal, isKilled = () => false } = options;
  const late = new Set<Promise<void>>();
  const runPiece = createRunPiece(options, late);

  const runRow = async (row: LearnerRow, on: RunRows): Promise<readonly CycleEnd[]> => {
    const isStopped = (): boolean =>
      row.isAlways !== true &&
      (signal.aborted || isKilled() || !on.state.switch.isOn || on.isStopped?.() === true);
    if (isStopped() || !row.due(on.state, clock.now())) return [];
    const ends: CycleEnd[] = [];
    const pieces = row.material(on.state);
    try {
      let end: CycleEnd | undefined;
      for (let next = await pieces.next(); next.done !== true; next = await pieces.next(end)) {
        if (isStopped()) break;
        const { value } = next;
        end = 'journal' in value ? undefined : await runPiece(value, row, on);
        if ('journal' in value) await on.write(value.journal);
        if (end !== undefined) ends.push(end);
      }
    } finally {
      await pieces.return();
    }
    return ends;
  };

  return {
    run: async (rows, on) => {
      const ends: CycleEnd[] = [];
      for (const row of rows) {
        try {
          ends.push(...(await runRow(row, on)));
        } catch (error) {
          if (row.fault === undefined) throw error;
          log.warn({ err: error }, row.fault);
        }
      }
      return ends;
    },
    settled: async () => {
      while (late.size > 0) await Promise.all(late);
    },
  };
}

/** `late`: answers that are still outstanding. */
function createRunPiece(
  { library, gate, clock, newId, log, signal }: RunnerOptions,
  late: Set<Promise<void>>,
): (piece: LearningPiece, row: LearnerRow, on: RunRows) => Promise<CycleEnd | undefined> {
  return async (piece, row, { state, write }) => {
    const { learn = row.learn, ask, patience, facts, ...cycle } = piece;
    const titled = ({ name, ...rest }: CycleEnd['judgements'][number]) => ({
      title: titleOfNamed(library.lesson(rest.lesson), name),
      ...rest,
    });
    const ended = runCycle(
      { ...cycle, learner: learn },
      {
        library,
        ask,
        gate: piece.gate ?? gate,
        clock,
        newId,
        journal: (note) => log.debug({ from: sourceOf(learn.name), cycle: piece.id }, note),
        signal: row.isAlways ? signal : AbortSignal.any([signal, state.running.signal]),
      },
    ).then(({ isRetryable, ...end }) => {
      log.info(
        compact({
          from: sourceOf(end.learner),
          outcome: end.outcome,
          why: end.note,
          judgements: end.judgements.map(titled),
          tookMs: end.tookMs,
        }),
        'learning cycle ended',
      );
      return { end, facts: facts(end, isRetryable) };
    });
    const prompt = patience === undefined ? await ended : await within(ended, patience.ms);
    if (prompt !== undefined || patience === undefined) {
      if (prompt !== undefined && prompt.facts.length > 0) await write(prompt.facts);
      return prompt?.end;
    }
    await write(patience.meanwhile);
    const answered = ended
      .then((answer) => write(answer.facts))
      .catch((error: unknown) => log.warn({ err: error }, 'a late answer could not be written'))
      .finally(() => late.delete(answered));
    late.add(answered);
    patience.onLate(answered);
    return undefined;
  };
}
