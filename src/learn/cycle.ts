import type { Clock } from '../core/clock.ts';
import type { Fact } from '../core/fact.ts';
import type {
  Ask,
  Cost,
  CoveredByLesson,
  EvidenceCase,
  Judgement,
  Learner,
  LearnerFailure,
  Proposal,
} from '../core/learn.ts';
import { addCost, NO_COST } from '../core/learn.ts';
import type { Change } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { isUnattributed, principalOfSession } from '../core/principal.ts';
import { changedLessonId } from '../lessons/codec.ts';
import { libraryOwnedBy } from '../lessons/member-library.ts';
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
}

interface Judged extends Judgement {
  readonly lesson: string;
  readonly name: string;
  readonly turns: readonly string[];
}

/**
 * One run of a learner, from its material to the published change set. The change set is all that it writes; the caller
 * appends the returned fact. A failure counts as used only when a judged proposal cited it.
 */
export async function runCycle<Material>(
  { id, learner, material, cases, items }: Cycle<Material>,
  parts: CycleOptions,
): Promise<CycleEnd & { readonly isRetryable: boolean }> {
  const { gate, clock, newId, journal, signal } = parts;
  const owner = ownerOfCases(cases);
  const library = libraryOwnedBy(parts.library, owner.member);
  const startedAt = clock.monotonic();
  let cost: Cost = NO_COST;
  const ask = parts.ask && countCost(parts.ask, (spent) => (cost = addCost(cost, spent)));

  // 1. The learner proposes changes.
  const proposals: Proposal[] = [];
  const known: CoveredByLesson[] = [];
  let stuck: LearnerFailure | undefined;
  // What several members said becomes no lesson here: it is moved to the team (`learn/team`), or stays theirs.
  if (owner.isMixed) stuck = { stuck: 'its evidence is of several members', isRetryable: false };
  const steps = owner.isMixed ? [] : learner.learn({ material, library, ask, newId, journal, signal });
  for await (const step of steps) {
    if (signal.aborted) break;
    if ('stuck' in step) stuck = step;
    else if ('known' in step) known.push(step);
    else proposals.push(ownedBy(owner.member, step));
  }

  // 2. The gate decides the outcome of each.
  const judged: Judged[] = [];
  const waiting = [...proposals];
  for (let proposal = waiting.shift(); proposal !== undefined; proposal = waiting.shift()) {
    const why = whyForeign(proposal.change, library, parts.library) ?? whyPersonal(proposal.change, cases);
    const judgement = why ?? (await gate(proposal, cases, library));
    const change = judgement.change ?? proposal.change;
    const id = changedLessonId(change);
    const name = 'text' in change ? change.text.name : (library.lesson(id)?.text.name ?? id);
    // Every turn that the learner cites is used up, also those that the gate does not accept as evidence.
    const turns = 'text' in proposal.change ? proposal.change.text.evidence.turns : (proposal.turns ?? []);
    judged.push({ ...judgement, lesson: id, name, turns });
    if (judgement.outcome === 'proposed')
      waiting.push(...(proposal.byRule ?? []).map((one) => ownedBy(owner.member, one)));
  }

  // 3. Accepted changes are published as one set. A lesson makes room only for one that is shown.
  const ruled = judged.map((one) => (isSucceeded(one, judged, library) ? one : withoutSuccessor(one)));
  const texts = ruled.filter(({ change }) => change?.op !== 'retire');
  const retirements = ruled.filter(({ change }) => change?.op === 'retire');
  const changes = [...texts, ...retirements].flatMap((one) => changesOf(one, library));
  const names = ruled.flatMap(({ change, name }) => (change === undefined ? [] : [name]));
  const reason = `${learner.name}: ${names.join(', ')}`;
  const set = {
    id: `${learner.name}-${id}`,
    by: { kind: 'learner', name: learner.name },
    reason,
    changes,
  } as const;
  const isPublishing = changes.length > 0 && !signal.aborted;
  const published = isPublishing ? await library.publish(set) : undefined;
  const refusedOnPublish = new Map(
    published?.results.flatMap((result) => (result.status === 'refused' ? [[result.id, result.why]] : [])),
  );

  // 4. The outcome becomes a fact.
  const outcomes = ruled.map((one) => {
    const late = refusedOnPublish.get(one.lesson);
    return late === undefined ? one : { ...one, outcome: 'refused' as const, why: [...one.why, late] };
  });
  const isShown = outcomes.some(({ outcome }) => outcome === 'trial' || outcome === 'live');
  const isQueued = outcomes.some(({ outcome }) => outcome === 'proposed');
  const outcome = signal.aborted
    ? 'aborted'
    : isShown
      ? 'published'
      : isQueued
        ? 'queued'
        : outcomes.length > 0
          ? 'refused'
          : stuck !== undefined
            ? 'stuck'
            : 'nothing';
  const isDone = outcome !== 'aborted' && !(outcome === 'stuck' && stuck?.isRetryable === true);
  return {
    type: 'cycle-end',
    cycle: id,
    learner: learner.name,
    outcome,
    items: isDone ? items : [],
    turns: [...new Set([...outcomes.filter(isUsed), ...known].flatMap(({ turns }) => turns))],
    sessions: [...new Set(cases.map(({ session }) => session))],
    judgements: outcomes.map(({ lesson, name, outcome: end, why }) => ({ lesson, name, outcome: end, why })),
    ...(isPublishing ? { set: set.id } : {}),
    generation: library.generation,
    cost,
    tookMs: Math.round(clock.monotonic() - startedAt),
    ...(stuck === undefined ? {} : { note: stuck.stuck }),
    ...(stuck?.cause === undefined ? {} : { cause: stuck.cause }),
    isRetryable: !isDone,
  };
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
