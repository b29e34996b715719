import { hash } from 'node:crypto';
import { type Clock, systemClock } from '../core/clock.ts';
import type { Fact } from '../core/fact.ts';
import type {
  Ask,
  Cost,
  CoveredByLesson,
  DecidedChanges,
  EvidenceCase,
  GateOutcome,
  Judgement,
  Learner,
  LearnerFailure,
  Proposal,
} from '../core/learn.ts';
import { addCost, NO_COST } from '../core/learn.ts';
import type { Change, ChangeResult, ChangeSet, PublishResult } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { isUnattributed, principalOfSession } from '../core/principal.ts';
import { changedLessonId } from '../lessons/codec.ts';
import { libraryOwnedBy } from '../lessons/member-library.ts';
import { originOf } from '../lessons/title.ts';
import { hasIdentifier } from '../text/identifiers.ts';
import { truncateEnd } from '../text/truncate.ts';
import { oneLine } from '../text/visible-text.ts';

const LONGEST_REASON = 1_900;

export type CycleEnd = Fact & { readonly type: 'cycle-end' };

export interface Cycle<Material> {
  /** Idempotency key: repeating the work after a kill publishes nothing twice. */
  readonly id: string;
  readonly learner: Learner<Material>;
  readonly material: Material;
  /** The evidence that the gate may use. */
  readonly cases: readonly EvidenceCase[];
  /** Queued items that this run completes. */
  readonly items: readonly string[];
}

export interface CycleOptions {
  readonly library: Library;
  readonly ask: Ask | undefined;
  /** `library`: the part of it that the members of the evidence may see. */
  readonly gate: (proposal: Proposal, cases: readonly EvidenceCase[], library: Library) => Promise<Judgement>;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly journal: (note: string) => void;
  readonly signal: AbortSignal;
  /** Told the answer to each set that was published. */
  readonly onPublished?: (published: PublishResult) => void;
}

/** An idempotency key: repeating the work after a kill publishes nothing twice. */
export const cycleIdOf = (material: unknown): string =>
  hash('sha256', JSON.stringify(material), 'hex').slice(0, 24);

interface Judged extends Judgement {
  readonly lesson: string;
  readonly name: string;
  readonly turns: readonly string[];
}

/** What a learner gave, with what became of it so far. */
interface Proposed {
  readonly proposals: readonly Proposal[];
  readonly covered: readonly CoveredByLesson[];
  /** Decided changes are published as they come: a later one may rest on an earlier one. */
  readonly decided: readonly Judged[];
  /** The last set of decided changes that changed something. */
  readonly set: string | undefined;
  readonly stuck: LearnerFailure | undefined;
}

/** The library as the cycle reads it: the part of the principal whose evidence it is. */
interface CycleScope extends CycleOptions {
  readonly owner: CaseOwner;
  readonly own: Library;
}

/**
 * One run of a learner, from its material to the published change set. It is the only way by which something that was learned is
 * published, and change sets are all that it writes; the caller appends the returned fact. A failure counts as used only when a
 * judged proposal cited it.
 */
export async function runCycle<Material>(
  cycle: Cycle<Material>,
  parts: CycleOptions,
): Promise<CycleEnd & { readonly isRetryable: boolean }> {
  const { id, learner, cases, items } = cycle;
  const { clock, signal } = parts;
  const startedAt = clock.monotonic();
  const owner = ownerOfCases(cases);
  const own = libraryOwnedBy(parts.library, owner.member);
  let cost: Cost = NO_COST;
  const ask = parts.ask && countCost(parts.ask, (spent) => (cost = addCost(cost, spent)));
  const scope: CycleScope = { ...parts, owner, own, ask };

  const proposed = await propose(cycle, scope);
  const judged = await judge(proposed.proposals, cases, scope);
  const published = await publish(judged, cycle, scope);
  const { covered, decided, stuck } = proposed;
  const outcomes = [...decided, ...published.outcomes];
  const set = published.set ?? proposed.set;
  const outcome = signal.aborted ? 'aborted' : outcomeOf(outcomes, stuck);
  const isDone = outcome !== 'aborted' && !(outcome === 'stuck' && stuck?.isRetryable === true);
  return {
    type: 'cycle-end',
    cycle: id,
    learner: learner.name,
    outcome,
    items: isDone ? items : [],
    turns: [...new Set([...outcomes.filter(isUsed), ...covered].flatMap(({ turns }) => turns))],
    sessions: [...new Set(cases.map(({ session }) => session))],
    judgements: outcomes.map(({ lesson, name, outcome: end, why }) => ({ lesson, name, outcome: end, why })),
    ...(set === undefined ? {} : { set }),
    generation: own.generation,
    cost,
    tookMs: Math.round(clock.monotonic() - startedAt),
    ...(stuck === undefined ? {} : { note: stuck.stuck }),
    ...(stuck?.cause === undefined ? {} : { cause: stuck.cause }),
    isRetryable: !isDone,
  };
}

/** A cycle of decided changes outside the runner: of practice, or when a person asks. Answers with one result for each change. */
export async function publishDecided(
  learner: Learner<undefined>,
  library: Library,
  signal: AbortSignal,
): Promise<readonly ChangeResult[]> {
  const results: ChangeResult[] = [];
  await runCycle(
    { id: learner.name, learner, material: undefined, cases: [], items: [] },
    {
      library,
      ask: undefined,
      gate: async () => ({ outcome: 'refused', why: ['only decided changes are expected here'] }),
      clock: systemClock,
      newId: (prefix) => prefix,
      journal: () => undefined,
      signal,
      onPublished: (published) => results.push(...published.results),
    },
  );
  return results;
}

/** A learner whose material is its decided changes. */
export const decidedLearner = (name: string): Learner<DecidedChanges> => ({
  name,
  async *learn({ material }) {
    yield material;
  },
});

/** 1. The learner proposes changes. */
async function propose<Material>(
  { learner, material }: Cycle<Material>,
  { owner, own, ask, newId, journal, signal, ...parts }: CycleScope,
): Promise<Proposed> {
  const proposals: Proposal[] = [];
  const covered: CoveredByLesson[] = [];
  const decided: Judged[] = [];
  let set: string | undefined;
  let stuck: LearnerFailure | undefined;
  // What several members said becomes no lesson here: it is moved to the team (`learn/team`), or stays theirs.
  if (owner.isMixed) stuck = { stuck: 'its evidence is of several members', isRetryable: false };
  const steps = owner.isMixed ? [] : learner.learn({ material, library: own, ask, newId, journal, signal });
  for await (const step of steps) {
    if (signal.aborted) break;
    if ('stuck' in step) stuck = step;
    else if ('known' in step) covered.push(step);
    else if ('change' in step) proposals.push(ownedBy(owner.member, step));
    else {
      const published = await parts.library.publish(step.set);
      parts.onPublished?.(published);
      if (published.results.some(({ status }) => status === 'applied')) set = step.set.id;
      decided.push(...decidedOutcomes(step, published, parts.library));
    }
  }
  return { proposals, covered, decided, set, stuck };
}

/** Of decided changes: those that changed nothing are refused. */
const decidedOutcomes = (
  { set, why = [] }: DecidedChanges,
  { results }: PublishResult,
  library: Library,
): readonly Judged[] =>
  set.changes.map((change, at) => {
    const result = results[at];
    const lesson = changedLessonId(change);
    const name = 'text' in change ? change.text.name : (library.lesson(lesson)?.text.name ?? lesson);
    const outcome = result?.status === 'applied' ? reachOf(change) : 'refused';
    return { lesson, name, outcome, why: result?.status === 'refused' ? [result.why] : why, turns: [] };
  });

/** How far a change goes. */
function reachOf(change: Change): GateOutcome {
  const state = change.op === 'add' ? change.state : change.op === 'move' ? change.to : 'trial';
  return state === 'live' || state === 'proposed' ? state : 'trial';
}

/** 2. The gate decides the outcome of each. */
async function judge(
  proposals: readonly Proposal[],
  cases: readonly EvidenceCase[],
  { owner, own, gate, library }: CycleScope,
): Promise<readonly Judged[]> {
  const judged: Judged[] = [];
  const waiting = [...proposals];
  for (let proposal = waiting.shift(); proposal !== undefined; proposal = waiting.shift()) {
    const why = whyForeign(proposal.change, own, library) ?? whyPersonal(proposal.change, cases);
    const judgement = why ?? (await gate(proposal, cases, own));
    const change = judgement.change ?? proposal.change;
    const lesson = changedLessonId(change);
    const name = 'text' in change ? change.text.name : (own.lesson(lesson)?.text.name ?? lesson);
    // Every turn that the learner cites is used up, also those that the gate does not accept as evidence, unless it says otherwise.
    const cited = 'text' in proposal.change ? proposal.change.text.evidence.turns : [];
    const turns = proposal.turns ?? cited;
    judged.push({ ...judgement, lesson, name, turns });
    if (judgement.outcome === 'proposed')
      waiting.push(...(proposal.byRule ?? []).map((one) => ownedBy(owner.member, one)));
  }
  return judged;
}

/** 3. Accepted changes are published as one set. A lesson makes room only for one that is shown. */
async function publish<Material>(
  judged: readonly Judged[],
  { id, learner }: Cycle<Material>,
  { own, signal, onPublished }: CycleScope,
): Promise<{ readonly outcomes: readonly Judged[]; readonly set: string | undefined }> {
  const ruled = judged.map((one) => (isSucceeded(one, judged, own) ? one : withoutSuccessor(one)));
  const texts = ruled.filter(({ change }) => change?.op !== 'retire');
  const retirements = ruled.filter(({ change }) => change?.op === 'retire');
  const changes = [...texts, ...retirements].flatMap((one) => changesOf(one, own));
  if (changes.length === 0 || signal.aborted) return { outcomes: ruled, set: undefined };
  const set: ChangeSet = {
    id: `${learner.name}-${id}`,
    by: { kind: 'learner', name: learner.name },
    reason: reasonFor(changes) || learner.name,
    changes,
  };
  const published = await own.publish(set);
  onPublished?.(published);
  const refused = new Map(
    published.results.flatMap((result) => (result.status === 'refused' ? [[result.id, result.why]] : [])),
  );
  const outcomes = ruled.map((one) => {
    const late = refused.get(one.lesson);
    return late === undefined ? one : { ...one, outcome: 'refused' as const, why: [...one.why, late] };
  });
  return { outcomes, set: set.id };
}

/** What the changes rest on, in words for people. A member's words stay out of what others read. */
function reasonFor(changes: readonly Change[]): string {
  const reasons = changes.flatMap((change) => {
    if (!('text' in change)) return 'reason' in change && change.reason !== undefined ? [change.reason] : [];
    return change.text.scope.member === undefined ? [originOf(change)] : ["a member's work"];
  });
  return truncateEnd([...new Set(reasons)].join('; '), LONGEST_REASON);
}

/** 4. The outcome becomes a fact. */
function outcomeOf(outcomes: readonly Judged[], stuck: LearnerFailure | undefined): CycleEnd['outcome'] {
  if (outcomes.some(({ outcome }) => isInUse(outcome))) return 'published';
  if (outcomes.some(({ outcome }) => outcome === 'proposed')) return 'queued';
  if (outcomes.length > 0) return 'refused';
  return stuck === undefined ? 'nothing' : 'stuck';
}

interface CaseOwner {
  readonly member: string | undefined;
  readonly isMixed: boolean;
}

function ownerOfCases(cases: readonly EvidenceCase[]): CaseOwner {
  const members = new Set(cases.map(({ session }) => principalOfSession(session)));
  return { member: [...members][0], isMixed: members.size > 1 };
}

/** What is learned from a member's sessions is that member's, whatever its learner says. */
function ownedBy(member: string | undefined, proposal: Proposal): Proposal {
  const { change } = proposal;
  if (member === undefined || !('text' in change)) return proposal;
  const scope = { ...change.text.scope, member };
  return { ...proposal, change: { ...change, text: { ...change.text, scope } } };
}

/** A session changes nothing of another principal's, whatever its learner proposes. */
function whyForeign(change: Change, own: Library, all: Library): Judgement | undefined {
  if (change.op === 'add') return undefined;
  const ids = change.op === 'merge' ? change.ids : [change.id];
  const isForeign = ids.some((id) => own.lesson(id) === undefined && all.lesson(id) !== undefined);
  return isForeign
    ? { outcome: 'refused', why: ['it belongs to another key, end user or member'] }
    : undefined;
}

/** Where nobody knows whose words a session holds, an identifier in them is somebody's, and never for others. */
function whyPersonal(change: Change, cases: readonly EvidenceCase[]): Judgement | undefined {
  if (!('text' in change)) return undefined;
  const { name, description, content, note } = change.text;
  const isOfNobody = cases.some(({ session, scope }) => isUnattributed(session, scope));
  if (!isOfNobody || !hasIdentifier([name, description, content, note.context ?? ''].join('\n')))
    return undefined;
  return {
    outcome: 'refused',
    why: ['it names somebody by an identifier, and nobody knows whose words they are'],
  };
}

/** A failure whose lesson the library already has is used up as well. */
const isUsed = ({ outcome, isKnown }: Judgement): boolean => outcome !== 'refused' || isKnown === true;

const isInUse = (state: string | undefined): boolean => state === 'trial' || state === 'live';

/** Whether the lesson that a retirement names as its successor is shown: it is already, or it will be with this set. */
function isSucceeded({ change }: Judged, judged: readonly Judged[], library: Library): boolean {
  if (change?.op !== 'retire' || change.supersededBy === undefined) return true;
  const { supersededBy } = change;
  const inSet = judged.find(
    (one) => one.change !== undefined && one.change.op !== 'retire' && one.lesson === supersededBy,
  );
  return inSet === undefined ? isInUse(library.lesson(supersededBy)?.state) : isInUse(inSet.outcome);
}

function withoutSuccessor({ change: _, ...judged }: Judged): Judged {
  const why = 'the lesson that should take its place is not in use';
  return { ...judged, outcome: 'refused', why: [...judged.why, why] };
}

/** A revised live lesson goes back on trial: the measurement was of the old text. */
function changesOf({ change, outcome, why }: Judged, library: Library): readonly Change[] {
  if (change === undefined) return [];
  // A person who reviews it sees why it waits.
  if (change.op === 'add' && outcome === 'proposed' && why.length > 0)
    return [{ ...change, reason: truncateEnd(oneLine(why.join('; ')), LONGEST_REASON, 0) }];
  if (change.op !== 'revise' && change.op !== 'merge') return [change];
  const id = changedLessonId(change);
  const old = library.lesson(id);
  const isReworded =
    old?.text.content !== change.text.content || old.text.description !== change.text.description;
  const isLive = old?.state === 'live' && isReworded;
  return isLive && outcome === 'trial' ? [change, { op: 'move', id, to: 'trial' }] : [change];
}

/** The same `ask`, with its cost reported. */
const countCost =
  (ask: Ask, spend: (cost: Cost) => void): Ask =>
  async (question, signal) => {
    const answer = await ask(question, signal);
    spend(answer.cost);
    return answer;
  };
