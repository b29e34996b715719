import { createLruMap, type LruMap } from '../base/lru-map.ts';
import type { AdherenceFact } from '../core/adherence-fact.ts';
import { LEARNING_SUBJECT, type StoredFact } from '../core/fact.ts';
import { FOLDED_TYPES, type FoldedType, type Records } from '../core/store.ts';
import { appraisalMark } from '../evidence/appraise-session.ts';
import { shareKept } from '../evidence/checked-turns.ts';
import { type Calibration, createCalibration } from '../evidence/judge/calibration.ts';
import { createEvolverQueue, EVOLVER, type EvolverQueue } from './evolver-queue.ts';
import { createFailureClusters, type FailureClusters } from './failure-clusters.ts';
import { createLessonUses, type LessonUses } from './lesson-use/lesson-uses.ts';
import { createPauses, type LearningPauses } from './pauses.ts';
import { createRemarks, type Remarks } from './remarks.ts';

/** A view that is folded from facts, in their order. */
export interface FactFold {
  add(stored: StoredFact): void;
}

/** The state of learning, folded from facts. */
export interface LearningState extends FactFold {
  readonly support: FailureClusters;
  /** What people stated after answers. */
  readonly remarks: Remarks;
  /** What the evolver still has to be asked about. */
  readonly evolver: EvolverQueue;
  /** How the sessions went that each lesson was shown in. */
  readonly uses: LessonUses;
  /** The last appraisal of a turn, as text to compare. */
  readonly appraised: LruMap<string, string>;
  /** Sessions that are waiting to be learned from, by item: what is queued for other learners than the evolver. */
  readonly queue: ReadonlyMap<string, QueuedItem>;
  /** LearningPauses of queued items. */
  readonly queuePauses: LearningPauses;
  /** Whether the owner has turned learning off. */
  switch: LearningSwitch;
  /** Aborted when learning is turned off. */
  running: AbortController;
  /** Takes over a switch that was read from the record. */
  turn(to: LearningSwitch): void;
  readonly totals: LearningTotals;
  /** Turns whose evidence decides nothing, with their sessions: for a judge. */
  readonly undecided: Map<string, string>;
  readonly calibration: Calibration;
  /** Turns that a verifier, a person or the chat decided and that a judge has not seen, with their sessions: to compare it. */
  readonly audits: Map<string, string>;
  /** Why the judge could not be asked the last time. */
  judgeFault: string | undefined;
  /** The newest fact that was folded. */
  seq: number;
}

export interface QueuedItem {
  readonly item: string;
  readonly learner: string;
  readonly session: string;
  readonly turns: readonly string[];
}

interface LearningTotals {
  failures: number;
  successes: number;
  cycles: number;
  published: number;
  queued: number;
}

const AUDITING: ReadonlySet<string> = new Set(['verifier', 'person', 'chat']);
const MOST_AUDITS = 40;
const MOST_TURNS = 50_000;
const PAGE = 1000;

/** `others` are folded together with it, each fact once. */
export function createLearningState(others: readonly FactFold[] = []): LearningState {
  const support = createFailureClusters();
  const remarks = createRemarks();
  const evolver = createEvolverQueue();
  const uses = createLessonUses();
  const appraised = createLruMap<string, string>(MOST_TURNS);
  const queue = new Map<string, QueuedItem>();
  const undecided = new Map<string, string>();
  const calibration = createCalibration();
  const audits = new Map<string, string>();
  const totals: LearningTotals = {
    failures: 0,
    successes: 0,
    cycles: 0,
    published: 0,
    queued: 0,
  };
  const state: LearningState = {
    support,
    remarks,
    evolver,
    uses,
    appraised,
    queue,
    queuePauses: createPauses(),
    switch: LEARNING_ON,
    running: new AbortController(),
    turn: (to) => {
      if (!to.isOn) state.running.abort();
      else if (!state.switch.isOn) state.running = new AbortController();
      state.switch = to;
    },
    totals,
    undecided,
    calibration,
    audits,
    judgeFault: undefined,
    seq: 0,
    add: (stored) => {
      if (stored.seq <= state.seq) return;
      state.seq = stored.seq;
      support.add(stored);
      remarks.add(stored);
      evolver.add(stored);
      uses.add(stored);
      for (const other of others) other.add(stored);
      const { fact } = stored;
      state.turn(foldLearningSwitch(state.switch, stored));
      calibration.test(stored);
      if (fact.type === 'turn-appraised') {
        appraised.set(fact.turn, appraisalMark(fact));
        if (fact.verdict === 'failure') totals.failures++;
        else if (fact.verdict === 'success') totals.successes++;
        if (fact.source !== undefined && AUDITING.has(fact.source) && fact.reward !== undefined) {
          const score = 2 * fact.reward - 1;
          calibration.hear({ turn: fact.turn, source: fact.source, score, at: stored.at });
          audits.set(fact.turn, fact.session);
          const oldest = audits.keys().next().value;
          if (audits.size > MOST_AUDITS && oldest !== undefined) audits.delete(oldest);
        }
      } else if (fact.type === 'reward-given' && fact.turn !== undefined) {
        calibration.hear({ turn: fact.turn, source: fact.source, score: fact.score, at: stored.at });
        undecided.delete(fact.turn);
        if (fact.source === 'judge') audits.delete(fact.turn);
      } else if (fact.type === 'rules-observed') {
        calibration.hear({ turn: fact.turn, source: 'check', score: scoreByRules(fact), at: stored.at });
      } else if (fact.type === 'learning-queued') {
        if (fact.learner !== EVOLVER) queue.set(fact.item, fact);
      } else if (fact.type === 'cycle-end') {
        for (const item of fact.items) queue.delete(item);
        totals.cycles++;
        if (fact.outcome === 'published') totals.published++;
        if (fact.outcome === 'queued') totals.queued++;
      }
    },
  };
  return state;
}

/** −1 when the answer broke a rule with an accepted check, 1 when it kept to those that applied, 0 when none did. */
function scoreByRules(fact: AdherenceFact): number {
  const share = shareKept(fact);
  return share === undefined ? 0 : share < 1 ? -1 : 1;
}

/**
 * Folds the recorded facts in their order and returns the number of the last one. Facts that are appended meanwhile are
 * left to the caller, who follows the record from there. `changes`: the first changes of the library, which were read already.
 */
export async function loadLearning(
  fold: FactFold,
  records: Pick<Records, 'totals' | 'factsOf'>,
  changes: readonly StoredFact[] = [],
): Promise<number> {
  const upTo = (await records.totals()).facts;
  const logs = await Promise.all(FOLDED_TYPES.map((type) => readLog(type, records, changes)));
  for (;;) {
    // The log whose next fact is the oldest: only one page of each is in memory.
    let first: TypedLog | undefined;
    for (const log of logs) if (nextSeq(log) < nextSeq(first)) first = log;
    const stored = first?.page[first.at];
    if (first === undefined || stored === undefined || stored.seq > upTo) return upTo;
    fold.add(stored);
    first.at++;
    if (first.at < first.page.length) continue;
    first.page = await records.factsOf(first.type, stored.seq, PAGE);
    first.at = 0;
  }
}

/** The facts of one type, a page at a time. */
interface TypedLog {
  readonly type: FoldedType;
  page: readonly StoredFact[];
  at: number;
}

const readLog = async (
  type: FoldedType,
  records: Pick<Records, 'factsOf'>,
  changes: readonly StoredFact[],
): Promise<TypedLog> => ({
  type,
  page: type === 'library-changed' && changes.length > 0 ? changes : await records.factsOf(type, 0, PAGE),
  at: 0,
});

const nextSeq = (log: TypedLog | undefined): number => log?.page[log.at]?.seq ?? Number.POSITIVE_INFINITY;

/** Whether Instar learns. Off: no lesson is written or changed by itself, and no model is asked; serving goes on. */
interface LearningSwitch {
  readonly isOn: boolean;
  /** When the owner turned it on or off; undefined when nobody ever did. */
  readonly since?: number;
}

const LEARNING_ON: LearningSwitch = { isOn: true };

/** Older facts than the last one change nothing. */
function foldLearningSwitch(known: LearningSwitch, { at, fact }: StoredFact): LearningSwitch {
  if (fact.type !== 'learning-switched' || at < (known.since ?? 0)) return known;
  return { isOn: fact.on !== false, since: at };
}

export async function readLearningSwitch(records: Pick<Records, 'events'>): Promise<LearningSwitch> {
  let known = LEARNING_ON;
  for (const stored of await records.events(LEARNING_SUBJECT)) known = foldLearningSwitch(known, stored);
  return known;
}
