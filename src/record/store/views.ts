import { printableName } from '../../base/printable.ts';
import { budgetSubject } from '../../core/budget.ts';
import { createdObjectSubject } from '../../core/created-object.ts';
import {
  type Fact,
  JUDGE_SUBJECT,
  LEARNING_SUBJECT,
  type StoredFact,
  type UnreadableBody,
} from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import { MEMBERS_SUBJECT } from '../../core/member.ts';
import { cacheSubject, practiceSubject } from '../../core/practice-fact.ts';
import { PRACTICE_SESSIONS } from '../../core/session-fact.ts';
import { SETTINGS_SUBJECT } from '../../core/shared-setting.ts';
import type { RewardView, SessionView, TurnView } from '../../core/store.ts';
import { PRACTICE_TASKS } from '../../core/task-fact.ts';
import { TRIALS_SUBJECT } from '../../core/trial.ts';

/**
 * A session's row. It has no text that can be erased: the project's label is read from the fact that named it, so that
 * erasing the fact is enough.
 */
export interface SessionRow extends Omit<SessionView, 'project'> {
  readonly project?: string;
  readonly projectFrom?: number;
}

/** A turn's row: the numbers of the facts that started and ended it. Everything else is read from those facts. */
export interface TurnRow {
  readonly id: string;
  readonly session: string;
  readonly start: number;
  readonly end?: number;
  readonly erased: boolean;
}

/** A new turn reopens an ended or erased session. */
export function foldSession(
  row: SessionRow | undefined,
  { seq, at, fact }: StoredFact,
): SessionRow | undefined {
  if (fact.type === 'session-end') return row && { ...row, endedAt: at };
  if (fact.type === 'session-erased') return row && { ...row, erased: true };
  if (fact.type !== 'turn-start') return row;
  const { client, project } = fact;
  // Most turns change only the counters of their session.
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

/** The first start and the first end count. An end without a start has no view. */
export function foldTurn(row: TurnRow | undefined, { seq, fact }: StoredFact): TurnRow | undefined {
  if (fact.type === 'turn-start')
    return row ?? { id: fact.turn, session: fact.session, start: seq, erased: false };
  if (fact.type === 'turn-end') return row && (row.end === undefined ? { ...row, end: seq } : row);
  if (fact.type === 'session-erased') return row && { ...row, erased: true };
  return row;
}

/** `named`: the fact that `projectFrom` refers to. */
export function viewSession(row: SessionRow, named: StoredFact | undefined): SessionView {
  const { project: id, projectFrom, ...rest } = row;
  if (id === undefined) return rest;
  const label = named?.fact.type === 'turn-start' ? named.fact.project?.label : undefined;
  return { ...rest, project: { id, label: label ?? '' } };
}

/** Undefined when the fact that started the turn cannot be read. `policy` is the model that answered. */
export function viewTurn(
  row: TurnRow,
  start: StoredFact | undefined,
  end: StoredFact | undefined,
): TurnView | undefined {
  if (start?.fact.type !== 'turn-start') return undefined;
  const { id, session } = row;
  const { agent, role, runKind, wire, model, generation, policy, lessons, request, caller, gateway } =
    start.fact;
  const begun = compact({
    id,
    session,
    agent,
    role,
    runKind,
    wire,
    model: printableName(model),
    generation,
    lessons,
    startedAt: start.at,
    request,
    caller,
    gateway,
    unreadable: unreadableOf(start.fact.unreadable, undefined),
  });
  // Records of earlier versions have names as callers sent them.
  if (end?.fact.type !== 'turn-end') return { ...begun, policy: printableName(policy) };
  const { status, httpStatus, failure, usage, firstByteMs, totalMs, reply } = end.fact;
  return compact({
    ...begun,
    policy: printableName(end.fact.policy ?? policy),
    status,
    endedAt: end.at,
    httpStatus,
    failure,
    usage,
    firstByteMs,
    totalMs,
    request: end.fact.request ?? request,
    reply,
    caller: end.fact.caller ?? caller,
    unreadable: unreadableOf(start.fact.unreadable, end.fact.unreadable),
  });
}

const unreadableOf = (
  request: UnreadableBody | undefined,
  reply: UnreadableBody | undefined,
): TurnView['unreadable'] =>
  request === undefined && reply === undefined ? undefined : compact({ request, reply });

export function viewReward({ seq, at, fact }: StoredFact): RewardView | undefined {
  if (fact.type !== 'reward-given') return undefined;
  return compact({ seq, at, source: fact.source, score: fact.score, note: fact.note, by: fact.by });
}

/** `events(AUDIT_SUBJECT)` is the audit trail. */
export const AUDIT_SUBJECT = 'audit';

/** The key in the index of facts: the turn if the fact has one, else the session, job, run or policy. */
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
    // There are many checkpoints, and only those of an unfinished run are ever read.
    case 'job-checkpointed':
      return `run/${fact.run}`;
    case 'policy-moved':
      return `policy/${fact.engine}`;
    case 'action-taken':
      return AUDIT_SUBJECT;
    case 'budget-reserved':
    case 'budget-settled':
      return budgetSubject(fact.budget, fact.day);
    case 'clock-leaped':
    case 'time-confirmed':
      return CLOCK_SUBJECT;
    case 'object-created':
      return createdObjectSubject(fact.object);
    case 'learning-switched':
      return LEARNING_SUBJECT;
    case 'settings-changed':
      return SETTINGS_SUBJECT;
    case 'judge-tested':
      return JUDGE_SUBJECT;
    case 'practice-task':
      return PRACTICE_TASKS;
    case 'practice-begun':
    case 'practice-unit':
    case 'practice-ended':
      return practiceSubject(fact.run);
    case 'practice-cached':
      return cacheSubject(fact.key);
    case 'practice-session':
      return PRACTICE_SESSIONS;
    case 'trial-opened':
    case 'trial-measured':
    case 'trial-ended':
      return TRIALS_SUBJECT;
    case 'member-changed':
      return MEMBERS_SUBJECT;
    default:
      return fact.session;
  }
}

/** The subject of facts about the clock. */
export const CLOCK_SUBJECT = 'machine/clock';

/** The fact types that `events` returns: reports about sessions, and the history of jobs, runs, policies and the clock. */
export const REPORTED_TYPES = [
  'event-reported',
  'job-leased',
  'job-checkpointed',
  'job-ended',
  'policy-moved',
  'action-taken',
  'budget-reserved',
  'budget-settled',
  'clock-leaped',
  'time-confirmed',
  'object-created',
  'learning-switched',
  'settings-changed',
  'judge-tested',
  'practice-task',
  'workspace-snapshotted',
  'practice-begun',
  'practice-unit',
  'practice-cached',
  'practice-used',
  'practice-ended',
  'practice-session',
  'trial-opened',
  'trial-measured',
  'trial-ended',
  'member-changed',
] as const;
