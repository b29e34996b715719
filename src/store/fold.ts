import type { Fact, StoredFact } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import type { RewardView, SessionView, TurnView } from '../core/store.ts';

/**
 * What a store keeps of a session. No text that can be erased: the project's label is read from the fact that named
 * it, so that erasing a fact is enough.
 */
export interface SessionRow extends Omit<SessionView, 'project'> {
  readonly project?: string;
  readonly projectFrom?: number;
}

/** What a store keeps of a turn: the facts that opened and closed it, by number. What they say is read from them. */
export interface TurnRow {
  readonly id: string;
  readonly session: string;
  readonly start: number;
  readonly end?: number;
  readonly erased: boolean;
}

/** A turn that starts takes an ended or erased session up again: it is then a session with something to say. */
export function foldSession(
  row: SessionRow | undefined,
  { seq, at, fact }: StoredFact,
): SessionRow | undefined {
  if (fact.type === 'session-end') return row && { ...row, endedAt: at };
  if (fact.type === 'session-erased') return row && { ...row, erased: true };
  if (fact.type !== 'turn-start') return row;
  const { client, project } = fact;
  // Most turns tell nothing new of their session but that it goes on.
  if (row !== undefined && isKnown(row, fact)) {
    const [startedAt, lastAt] = [Math.min(row.startedAt, at), Math.max(row.lastAt, at)];
    return { ...row, turns: row.turns + 1, startedAt, lastAt };
  }
  const named = { client: row?.client ?? client, ...projectOf(row, project?.id, seq) };
  if (row === undefined) {
    const { session: id, agent } = fact;
    return compact({ id, agent, ...named, turns: 1, startedAt: at, lastAt: at, erased: false });
  }
  return compact({
    ...row,
    ...named,
    turns: row.turns + 1,
    startedAt: Math.min(row.startedAt, at),
    lastAt: Math.max(row.lastAt, at),
    endedAt: undefined,
    erased: false,
  });
}

const isKnown = (row: SessionRow, { client, project }: Fact & { readonly type: 'turn-start' }): boolean =>
  row.endedAt === undefined &&
  !row.erased &&
  (row.client !== undefined || client === undefined) &&
  (row.project !== undefined || project === undefined);

const projectOf = (row: SessionRow | undefined, id: string | undefined, seq: number) =>
  row?.project === undefined && id !== undefined
    ? { project: id, projectFrom: seq }
    : { project: row?.project, projectFrom: row?.projectFrom };

/** The first start and the first end count. An end that nothing started is a fact without a view. */
export function foldTurn(row: TurnRow | undefined, { seq, fact }: StoredFact): TurnRow | undefined {
  if (fact.type === 'turn-start')
    return row ?? { id: fact.turn, session: fact.session, start: seq, erased: false };
  if (fact.type === 'turn-end') return row && (row.end === undefined ? { ...row, end: seq } : row);
  if (fact.type === 'session-erased') return row && { ...row, erased: true };
  return row;
}

/** `named`: the fact `projectFrom` points at. */
export function viewSession(row: SessionRow, named: StoredFact | undefined): SessionView {
  const { project: id, projectFrom, ...rest } = row;
  if (id === undefined) return rest;
  const label = named?.fact.type === 'turn-start' ? named.fact.project?.label : undefined;
  return { ...rest, project: { id, label: label ?? '' } };
}

/** Undefined when the fact that began the turn cannot be read. `policy` is who answered in the end. */
export function viewTurn(
  row: TurnRow,
  start: StoredFact | undefined,
  end: StoredFact | undefined,
): TurnView | undefined {
  if (start?.fact.type !== 'turn-start') return undefined;
  const { id, session } = row;
  const { agent, role, wire, model, generation, policy, lessons, request } = start.fact;
  const begun = compact({
    id,
    session,
    agent,
    role,
    wire,
    model,
    generation,
    lessons,
    startedAt: start.at,
    request,
  });
  if (end?.fact.type !== 'turn-end') return { ...begun, policy };
  const { status, httpStatus, failure, usage, reply } = end.fact;
  return compact({
    ...begun,
    policy: end.fact.policy ?? policy,
    status,
    endedAt: end.at,
    httpStatus,
    failure,
    usage,
    request: end.fact.request ?? request,
    reply,
  });
}

export function viewReward({ seq, at, fact }: StoredFact): RewardView | undefined {
  if (fact.type !== 'reward-given') return undefined;
  return compact({ seq, at, source: fact.source, score: fact.score, note: fact.note });
}

/** The turn or the session under which a fact is found again: the narrower of what it names. */
export function subjectOf(fact: Fact): string | undefined {
  switch (fact.type) {
    case 'turn-end':
      return fact.turn;
    case 'library-changed':
    case 'cycle-end':
    case 'schedule-changed':
      return undefined;
    case 'reward-given':
      return fact.turn ?? fact.session;
    case 'job-leased':
    case 'job-ended':
      return `job/${fact.job}`;
    // Only the checkpoints of a run that is not over are ever wanted again, and there are many.
    case 'job-checkpointed':
      return `run/${fact.run}`;
    case 'policy-moved':
      return `policy/${fact.engine}`;
    default:
      return fact.session;
  }
}

/** Kinds of facts that `events` answers with: what was reported of a session, what happened to a job or its run, and to weights. */
export const REPORTED_TYPES = [
  'event-reported',
  'job-leased',
  'job-checkpointed',
  'job-ended',
  'policy-moved',
] as const;
