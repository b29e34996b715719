import type { Log } from '../../base/log.ts';
import { mayTeach } from '../../core/caller.ts';
import type { Fact, StoredFact } from '../../core/fact.ts';
import type { RecordedChange, Scope } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { principalOfSession } from '../../core/principal.ts';
import type { NewFact, Records, SessionView, TurnView } from '../../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { readTurn } from '../../evidence/turn-reading.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { scopeCovers } from '../../lessons/scope.ts';
import { CONSOLIDATION_JOB } from '../memory/consolidation-job.ts';
import { lessonLabel, MOST_EVENTS, observeSession } from './observe-session.ts';
import { type EventScope, leaderOf, observedEvent, shortHash } from './observed-event.ts';

interface ObserverOptions {
  readonly records: ConflictRecords;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Pick<Library, 'lesson' | 'history'>;
  readonly effects: Pick<LessonEffects, 'usefulness'>;
  readonly log: Log;
}

/**
 * Sees in the record what could teach something, and reports it as events, as others do over `POST /v1/events`. Never rejects: what cannot
 * be read is not reported.
 */
export interface Observer {
  /** A new fact was read. */
  note(stored: StoredFact): void;
  /** The events of the facts that were noted since the last call. The library must have caught up with them. */
  take(): Promise<readonly NewFact[]>;
  /** The events of a session that has ended; `ended` is what else is written about it. */
  session(session: string, ended: readonly NewFact[], now: number): Promise<readonly NewFact[]>;
}

const MOST_NOTED = 1000;

export function createObserver({ records, evidence, library, effects, log }: ObserverOptions): Observer {
  let noted: StoredFact[] = [];
  const quietly = async (read: () => Promise<readonly NewFact[]>): Promise<readonly NewFact[]> => {
    try {
      return await read();
    } catch (error) {
      log.warn({ err: error }, 'what happened could not be observed');
      return [];
    }
  };
  return {
    note: (stored) => {
      if (isObserved(stored) && noted.length < MOST_NOTED) noted.push(stored);
    },
    take: () =>
      quietly(async () => {
        const events: NewFact[] = [];
        const facts = noted;
        noted = [];
        for (const stored of facts) events.push(...(await observeFact(stored, { records, library })));
        return events;
      }),
    session: (session, ended, now) =>
      quietly(async () => {
        if (principalOfSession(session) !== undefined) return [];
        const turns = await evidence.turns(session);
        const first = turns[0]?.evidence.turn;
        const view = first === undefined ? undefined : await records.turn(first);
        // An episode reports its events itself.
        if (view === undefined) return [];
        const lastUse = (id: string): number | undefined => effects.usefulness(id).last;
        const observed = observeSession(
          { session, view, turns, ended },
          { lessonOf: library.lesson, lastUse },
          now,
        );
        const conflicts = await findConflicts({ session, turns, view }, { records, evidence }, now);
        return [...conflicts, ...observed].slice(0, MOST_EVENTS);
      }),
  };
}

interface FactContext {
  readonly records: Pick<Records, 'turn'>;
  readonly library: Pick<Library, 'lesson' | 'history'>;
}

const TYPES: ReadonlySet<Fact['type']> = new Set([
  'library-changed',
  'practice-session',
  'job-ended',
  'turn-end',
  'cycle-end',
]);

/** Whether a fact may be one that is observed. Cheap: it is asked for every fact. */
const isObserved = ({ fact }: StoredFact): boolean =>
  TYPES.has(fact.type) && (fact.type !== 'turn-end' || hasRunOut(fact));

/** What a fact teaches, as events. The library must have the changes of the fact. */
async function observeFact(
  { at, fact }: StoredFact,
  { records, library }: FactContext,
): Promise<readonly NewFact[]> {
  switch (fact.type) {
    case 'library-changed':
      return fact.changes.flatMap((change) => changeEvents(change, fact, library, at));
    case 'practice-session':
      return fact.op === 'closed' && fact.end === 'done' ? [refreshed(`practice ${fact.run}`, at)] : [];
    case 'job-ended':
      return fact.job === CONSOLIDATION_JOB && fact.end === 'done' && fact.isOver
        ? [refreshed(`consolidation ${fact.run}`, at)]
        : [];
    case 'cycle-end':
      return fact.outcome === 'stuck' && fact.cause === 'budget'
        ? [ranOut({ agent: 'instar' }, { mark: `day ${Math.floor(at / DAY_MS)}`, by: 'learn.budget' }, at)]
        : [];
    case 'turn-end': {
      const view = hasRunOut(fact) ? await records.turn(fact.turn) : undefined;
      if (view === undefined || !mayTeach(view.caller)) return [];
      const { session, agent, runKind, caller } = view;
      // Once a day for a session: agents try again.
      const mark = `day ${Math.floor(at / DAY_MS)}`;
      return [ranOut({ session, agent, runKind, caller }, { mark, by: view.policy, turn: fact.turn }, at)];
    }
    default:
      return [];
  }
}

const DAY_MS = 86_400_000;

const refreshed = (mark: string, at: number): NewFact =>
  observedEvent('teaching_refresh', { agent: 'instar' }, { mark, data: { of: mark.split(' ', 1)[0] } }, at);

const ranOut = (
  scope: EventScope,
  { mark, ...data }: { readonly mark: string; readonly by: string; readonly turn?: string },
  at: number,
): NewFact => observedEvent('budget_incident', scope, { mark, data }, at);

const QUOTA = /quota|billing|credit|balance|budget|spend(?:ing)? limit|payment/i;

/** The provider wants money, or a quota is used up. A plain rate limit passes by itself. */
const hasRunOut = ({ httpStatus, failure = '' }: Fact & { readonly type: 'turn-end' }): boolean =>
  httpStatus === 402 || (httpStatus === 429 && QUOTA.test(failure));

function changeEvents(
  change: RecordedChange,
  { by, set }: Fact & { readonly type: 'library-changed' },
  library: FactContext['library'],
  at: number,
): readonly NewFact[] {
  if (change.op === 'merge' || !('id' in change)) return [];
  const { id } = change;
  const scope = library.lesson(id)?.text.scope ?? {};
  const report = (
    kind: 'human_approval' | 'guidance_noisy' | 'stale_guidance' | 'successful_bubble',
    why: string,
    agent = plainName(scope.agent),
  ): NewFact =>
    observedEvent(
      kind,
      { agent, runKind: plainName(scope.runKind) },
      { mark: `${set} ${id}`, label: lessonLabel(id), data: { lesson: id, why } },
      at,
    );
  if (change.op === 'move')
    return by.kind === 'person' && (change.to === 'live' || change.to === 'trial')
      ? [report('human_approval', change.to)]
      : [];
  if (change.op === 'retire') {
    if (change.reason.startsWith('harmful:')) return [report('guidance_noisy', 'harmful')];
    return change.supersededBy !== undefined || /^the user has said otherwise/.test(change.reason)
      ? [report('stale_guidance', 'superseded')]
      : [];
  }
  if (change.op !== 'revise') return [];
  const before = library.history(id).findLast(({ revision }) => revision === change.from)?.text.scope;
  const after = library.history(id).findLast(({ revision }) => revision === change.from + 1)?.text.scope;
  if (before === undefined || after === undefined || !isWider(after, before)) return [];
  return [
    report('successful_bubble', 'widened', plainName(after.agent) ?? leaderOf(before.agent) ?? before.agent),
  ];
}

/** A name, no pattern. */
const plainName = (name: string | undefined): string | undefined => (name?.includes('*') ? undefined : name);

/** It holds in more places than before, or for the leader of the agent that it was for. */
function isWider(after: Scope, before: Scope): boolean {
  const isLeaders = after.agent !== undefined && after.agent === leaderOf(before.agent);
  return isLeaders || (scopeCovers(after, before) && !scopeCovers(before, after));
}

interface ConflictRecords extends Pick<Records, 'session' | 'sessions' | 'turn'> {}

const NEAR_MS = 3_600_000;
const MOST_SESSIONS = 20;
const MOST_COMPARED = 5;
const MOST_CONFLICTS = 4;

/** The time of a file's first and last edit. */
type EditTimes = ReadonlyMap<string, readonly [first: number, last: number]>;

interface EditingSession {
  readonly session: string;
  readonly turns: readonly AppraisedTurn[];
  /** Of its first turn. */
  readonly view: Pick<TurnView, 'runKind' | 'caller'>;
}

/**
 * Files that this session and another agent's of the same project edited within an hour. Without a project, or without another agent in
 * it, nothing is read.
 */
async function findConflicts(
  { session, turns, view: { runKind, caller } }: EditingSession,
  { records, evidence }: Pick<ObserverOptions, 'records' | 'evidence'>,
  now: number,
): Promise<readonly NewFact[]> {
  const own = await records.session(session);
  const project = own?.project?.id;
  if (own === undefined || project === undefined || !turns.some(hasEdits)) return [];
  const others = (await records.sessions({ limit: MOST_SESSIONS, project, withoutPractice: true }))
    .filter(
      (one) =>
        one.id !== session &&
        principalOfSession(one.id) === undefined &&
        one.agent !== own.agent &&
        !one.erased &&
        isNear(one, own),
    )
    .slice(0, MOST_COMPARED);
  if (others.length === 0) return [];
  const edits = await editTimes(turns, records);
  const conflicts: NewFact[] = [];
  for (const other of others) {
    const theirs = await editTimes(await evidence.turns(other.id), records);
    for (const [path, times] of edits) {
      const their = theirs.get(path);
      if (their === undefined || gapOf(times, their) > NEAR_MS) continue;
      const file = shortHash([project, path]);
      const pair = [session, other.id].toSorted();
      const agents = [own.agent, other.agent].toSorted();
      const leader = leaderOf(own.agent);
      const agent = leader !== undefined && leader === leaderOf(other.agent) ? leader : own.agent;
      const { fact } = observedEvent(
        'task_conflict',
        { agent, runKind, session, caller },
        {
          mark: '',
          label: `file.${file}`,
          data: { file: path.split(/[\\/]/).at(-1)?.slice(0, 80), agents, sessions: pair },
        },
        now,
      );
      // Whichever of the two ends first reports it.
      conflicts.push({ at: now, fact, key: `observed:task_conflict:${shortHash([...pair, file])}` });
    }
  }
  return conflicts.slice(0, MOST_CONFLICTS);
}

const isNear = (one: SessionView, other: SessionView): boolean =>
  one.lastAt >= other.startedAt - NEAR_MS && one.startedAt <= other.lastAt + NEAR_MS;

const gapOf = ([a, b]: readonly [number, number], [c, d]: readonly [number, number]): number =>
  Math.max(0, c - b, a - d);

const editedPaths = ({ evidence }: AppraisedTurn): readonly string[] =>
  readTurn(evidence).calls.flatMap(({ view, outcome }) =>
    view.kind === 'edit' && outcome?.kind !== 'fault' && outcome?.kind !== 'rejected' ? view.paths : [],
  );

const hasEdits = (turn: AppraisedTurn): boolean => editedPaths(turn).length > 0;

async function editTimes(
  turns: readonly AppraisedTurn[],
  records: Pick<Records, 'turn'>,
): Promise<EditTimes> {
  const times = new Map<string, readonly [number, number]>();
  for (const turn of turns) {
    const paths = editedPaths(turn);
    const at = paths.length === 0 ? undefined : (await records.turn(turn.evidence.turn))?.startedAt;
    if (at === undefined) continue;
    for (const path of paths) {
      const [first, last] = times.get(path) ?? [at, at];
      times.set(path, [Math.min(first, at), Math.max(last, at)]);
    }
  }
  return times;
}
