import type { StoredFact } from '../core/fact.ts';
import { asArray, asObject } from '../core/json.ts';
import { isAttemptId, principalOfSession } from '../core/principal.ts';
import { type CheckedAppraisal, createCheckedTurns, type TrainingSource } from './checked-turns.ts';

/** A rewarded turn that weights may be trained on: under the generation in force it would have the same prompt. */
export interface TrainingSample {
  readonly turn: string;
  readonly session: string;
  /** The generation it was served under, or was certified for since. */
  readonly generation: number;
  readonly reward: number;
}

/** An appraised turn that weights may be trained on by its outcome. */
export interface TrainingOutcome extends TrainingSample {
  readonly source: TrainingSource | undefined;
}

/**
 * The samples for training (query data), strictly apart from the failures that lessons are learned from (support data). A
 * failure is no sample, and a success is one only while its prompt is still what would be shown. The buffer is a fold of
 * facts: the fact that makes a new generation also empties it, so a crash cannot separate the two.
 */
export interface TrainingBuffer {
  /** Facts in the order of their numbers; one that was added before is ignored. */
  add(stored: StoredFact): void;
  /** Oldest first. The same array until a fact changes it. */
  samples(): readonly TrainingSample[];
  /**
   * The samples, then the failures of the generation in force that fed no lesson: no cycle learned from them, none is queued
   * for a learner, and no learner cites them. For estimators that need all outcomes. A failure is never certified for another
   * generation. The same array until a fact changes it.
   */
  outcomes(): readonly TrainingOutcome[];
  has(turn: string): boolean;
  counts(): { readonly query: number; readonly support: number; readonly generation: number };
}

/** How many samples the daemon keeps for training. */
export const SAMPLE_CAP = 512;

export interface TrainingBufferOptions {
  /** Above this the oldest samples are dropped. */
  readonly cap: number;
  /** How many failed turns from before the last flush are remembered. */
  readonly mostMarks?: number;
}

/** An erased sample keeps its place until newer ones push it out, so that folding the log again gives the same result. */
interface Held extends TrainingOutcome {
  readonly isErased: boolean;
}

/** The facts that can change which samples there are. */
const CHANGING: ReadonlySet<string> = new Set([
  'turn-appraised',
  'cycle-end',
  'library-changed',
  'learning-queued',
  'session-erased',
  'rules-observed',
]);

/** Turns that fed a lesson, or failed: support data, and never samples. */
function createMarks(mostMarks: number) {
  // A turn of an earlier generation cannot enter anyway: marks from before the last flush may be dropped.
  let older = new Set<string>();
  let marks = new Set<string>();
  let count = 0;
  const has = (turn: string): boolean => marks.has(turn) || older.has(turn);
  return {
    has,
    /** All that were ever marked. */
    count: () => count,
    add: (turn: string): void => {
      if (has(turn)) return;
      count++;
      marks.add(turn);
    },
    flush: (): void => {
      for (const turn of marks) older.add(turn);
      marks = new Set();
      if (older.size > mostMarks) older = new Set([...older].slice(older.size - Math.ceil(mostMarks / 2)));
    },
  };
}

/** Failures of this generation that fed no lesson yet. */
function createUnusedFailures(cap: number) {
  const failures = new Map<string, TrainingOutcome>();
  /** Turns of this generation that fed a lesson, or are about to. */
  const cited = new Set<string>();
  return {
    appraise: (fact: CheckedAppraisal, generation: number): void => {
      const { turn, session, verdict, reward, source } = fact;
      failures.delete(turn);
      const isTelling = reward !== undefined && source !== 'agent' && fact.signals.length > 0;
      if (verdict !== 'failure' || !isTelling || fact.generation !== generation || cited.has(turn)) return;
      failures.set(turn, { turn, session, generation, reward, source });
      dropOldest(failures, cap);
    },
    cite: (turn: string): void => {
      failures.delete(turn);
      cited.add(turn);
    },
    erase: (session: string): void => {
      for (const [turn, one] of failures) if (one.session === session) failures.delete(turn);
    },
    clear: (): void => {
      failures.clear();
      cited.clear();
    },
    all: (): Iterable<TrainingOutcome> => failures.values(),
  };
}

export function createTrainingBuffer({ cap, mostMarks = 200_000 }: TrainingBufferOptions): TrainingBuffer {
  const checked = createCheckedTurns();
  const held = new Map<string, Held>();
  const marks = createMarks(mostMarks);
  let generation = 0;
  let seq = 0;
  let listed: readonly TrainingSample[] | undefined;
  let outcomes: readonly TrainingOutcome[] | undefined;
  const failures = createUnusedFailures(cap);

  const mark = (turn: string): void => {
    held.delete(turn);
    // An attempt of practice is no turn, and no support data.
    if (!isAttemptId(turn)) marks.add(turn);
  };
  const appraise = (fact: CheckedAppraisal): void => {
    const { turn, session, verdict, reward, source } = fact;
    // Weights are for everybody.
    if (principalOfSession(session) !== undefined) return;
    // What a check calls a failure feeds no lesson: its rule is one.
    if (verdict === 'failure' && source !== 'check') mark(turn);
    failures.appraise(fact, generation);
    // An agent that praises itself does not train its weights.
    if (verdict !== 'success' || reward === undefined || source === 'agent') held.delete(turn);
    else if (held.has(turn) || (fact.generation === generation && !marks.has(turn))) {
      // Every appraisal has signals: without any, its session was erased.
      held.set(turn, { turn, session, generation, reward, source, isErased: fact.signals.length === 0 });
      dropOldest(held, cap);
    }
  };
  /** Survivors are certified for the new generation; all other samples are dropped. */
  const flush = (next: number, survivors: ReadonlySet<string>): void => {
    generation = next;
    failures.clear();
    for (const [turn, sample] of held) {
      if (survivors.has(turn)) held.set(turn, { ...sample, generation });
      else held.delete(turn);
    }
    marks.flush();
  };
  const samples = (): readonly TrainingSample[] => {
    listed ??= [...held.values()].flatMap(({ isErased, source: _, ...sample }) => (isErased ? [] : [sample]));
    return listed;
  };

  return {
    add: ({ seq: number, fact }) => {
      if (number <= seq) return;
      seq = number;
      if (CHANGING.has(fact.type)) {
        listed = undefined;
        outcomes = undefined;
      }
      const appraised = checked.take(fact);
      if (appraised !== undefined) appraise(appraised);
      else if (fact.type === 'learning-queued') fact.turns.forEach(failures.cite);
      else if (fact.type === 'cycle-end')
        for (const turn of fact.turns) {
          mark(turn);
          failures.cite(turn);
        }
      else if (fact.type === 'library-changed') {
        const turns = fact.by.kind === 'learner' ? citedTurns(fact.changes) : [];
        for (const turn of turns) {
          mark(turn);
          failures.cite(turn);
        }
        if (fact.generation !== generation) flush(fact.generation, new Set(fact.recertified ?? []));
      } else if (fact.type === 'session-erased') {
        for (const [turn, sample] of held)
          if (sample.session === fact.session) held.set(turn, { ...sample, isErased: true });
        failures.erase(fact.session);
      }
    },
    samples,
    outcomes: () => {
      outcomes ??= [
        ...[...held.values()].flatMap(({ isErased, ...sample }) => (isErased ? [] : [sample])),
        ...failures.all(),
      ];
      return outcomes;
    },
    has: (turn) => held.get(turn)?.isErased === false,
    counts: () => ({ query: samples().length, support: marks.count(), generation }),
  };
}

function dropOldest(turns: Map<string, unknown>, cap: number): void {
  const [oldest] = turns.keys();
  if (turns.size > cap && oldest !== undefined) turns.delete(oldest);
}

/** The turns that changes give as evidence. A newer version may have written them: what cannot be read cites nothing. */
export const citedTurns = (changes: readonly unknown[]): readonly string[] =>
  changes.flatMap((change) => {
    const { turns } = asObject(asObject(asObject(change).text).evidence);
    return asArray(turns).filter((turn) => typeof turn === 'string');
  });

interface SurvivorsInput {
  readonly samples: readonly TrainingSample[];
  /** Whether the sample's prompt would change with what is about to be published. */
  readonly wouldDiffer: (sample: TrainingSample) => Promise<boolean>;
}

/**
 * The turns of the samples whose prompt a change of the library does not affect, checked one after another. A sample for
 * which the check fails does not survive. Never rejects.
 */
export async function findSurvivors({ samples, wouldDiffer }: SurvivorsInput): Promise<readonly string[]> {
  const turns: string[] = [];
  for (const sample of samples) if (await isSame(sample, wouldDiffer)) turns.push(sample.turn);
  return turns;
}

async function isSame(sample: TrainingSample, wouldDiffer: SurvivorsInput['wouldDiffer']): Promise<boolean> {
  try {
    return (await wouldDiffer(sample)) === false;
  } catch {
    return false;
  }
}
