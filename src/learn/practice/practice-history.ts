import { addSpending, NOTHING_SPENT, type Spending } from '../../core/budget.ts';
import type { Fact, StoredFact } from '../../core/fact.ts';
import { asArray, asNumber, asObject, asString, type Json } from '../../core/json.ts';
import type { Scope } from '../../core/lesson.ts';
import { type PracticeKind, TASK_ORIGINS, type TaskOrigin } from '../../core/practice.ts';
import { PRACTICE_SESSIONS } from '../../core/session-fact.ts';
import type { Records } from '../../core/store.ts';
import type { FactFold } from '../learning-state.ts';

type SessionFactOf<Op extends string> = Extract<Fact, { readonly type: 'practice-session'; readonly op: Op }>;

/** Where tasks of a session come from. */
export type SessionArea = Pick<Scope, 'agent' | 'project' | 'domain'>;

/** One session of practice. */
export interface PastSession {
  readonly at: number;
  readonly planned: SessionFactOf<'planned'>;
  /** Absent while it is under way or was interrupted. */
  readonly closed?: SessionFactOf<'closed'>;
}

/** What sessions of one kind have brought. */
export interface PracticeYield {
  readonly kind: PracticeKind;
  readonly sessions: number;
  /** Lessons that went on trial, and those that were measured to help. */
  readonly learned: number;
  readonly helpful: number;
  readonly spent: Spending;
}

/** An agent in a project whose work fails. */
interface FailingArea {
  readonly area: SessionArea;
  readonly failures: number;
  readonly judged: number;
}

/** What happened since, and what practice brought so far; folded from facts. */
export interface PracticeHistory extends FactFold {
  /** Oldest first. */
  sessions(): readonly PastSession[];
  /** The session that was interrupted last and can go on. */
  unfinished(): PastSession | undefined;
  /** When a session of this kind in this area was planned last. */
  lastOf(kind: PracticeKind, area: SessionArea): number | undefined;
  /** How many sessions of the kind in a row, up to the last, brought nothing. */
  barren(kind: PracticeKind): number;
  yields(): readonly PracticeYield[];
  /** By the origin of tasks, one row for each session and origin. */
  originYields(): readonly OriginYield[];
  /** Judged answers of users' agents since the last session. */
  readonly interactions: number;
  /** Lessons that other learners published since the last session. */
  readonly unprocessed: number;
  /** Areas with at least so many judged answers since they were last practised, of which at least this share failed. */
  failing(judged: number, share: number): readonly FailingArea[];
}

/** Interrupted sessions older than this are not continued: the library they were planned for is gone. */
const LONGEST_PAUSE_MS = 7 * 24 * 3_600_000;
const MOST_AREAS = 500;
/** The newest verdicts of an area that count. */
const WINDOW = 20;

interface Verdicts {
  readonly area: SessionArea;
  /** Oldest first: whether each was a failure. */
  readonly list: readonly { readonly turn: string; readonly isFailure: boolean }[];
}

export async function openPracticeHistory(records: Pick<Records, 'events'>): Promise<PracticeHistory> {
  const history = createPracticeHistory();
  for (const stored of await records.events(PRACTICE_SESSIONS)) history.add(stored);
  return history;
}

/** Facts about sessions have to be added before those about turns that are older than they are. */
export function createPracticeHistory(): PracticeHistory {
  const sessions = new Map<string, PastSession>();
  const areas = new Map<string, Verdicts>();
  let seen = new Set<string>();
  let unprocessed = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  const seqs = { sessions: 0, others: 0 };

  const plan = (at: number, planned: SessionFactOf<'planned'>): void => {
    sessions.set(planned.run, { at, planned });
    lastAt = Math.max(lastAt, at);
    seen = new Set();
    unprocessed = 0;
    if (planned.kind === 'remedial') areas.delete(areaKey(planned.area));
  };
  const judge = ({ turn, scope, verdict }: Fact & { readonly type: 'turn-appraised' }, at: number): void => {
    if (at > lastAt) seen.add(turn);
    if (verdict !== 'failure' && verdict !== 'success') return;
    const { agent, project } = scope;
    const area = { ...(agent === undefined ? {} : { agent }), ...(project === undefined ? {} : { project }) };
    const key = areaKey(area);
    const practised = lastOf('remedial', area);
    if (practised !== undefined && at <= practised) return;
    const before = (areas.get(key)?.list ?? []).filter((one) => one.turn !== turn);
    // The newest last: the area that was quiet longest goes first.
    areas.delete(key);
    const [oldest] = areas.keys();
    if (areas.size >= MOST_AREAS && oldest !== undefined) areas.delete(oldest);
    areas.set(key, { area, list: [...before, { turn, isFailure: verdict === 'failure' }].slice(-WINDOW) });
  };
  const all = (): readonly PastSession[] => [...sessions.values()];
  const lastOf = (kind: PracticeKind, area: SessionArea): number | undefined =>
    all()
      .filter(({ planned }) => planned.kind === kind && areaKey(planned.area) === areaKey(area))
      .at(-1)?.at;

  return {
    add: ({ seq, at, fact }: StoredFact) => {
      if (fact.type === 'practice-session') {
        if (seq <= seqs.sessions) return;
        seqs.sessions = seq;
        const known = sessions.get(fact.run);
        if (fact.op === 'planned') plan(at, fact);
        else if (known !== undefined) sessions.set(fact.run, { ...known, closed: fact });
        return;
      }
      if (seq <= seqs.others) return;
      seqs.others = seq;
      if (fact.type === 'turn-appraised') judge(fact, at);
      else if (fact.type === 'library-changed' && fact.by.kind === 'learner' && at > lastAt)
        unprocessed += fact.changes.filter(({ op }) => op === 'add').length;
    },
    sessions: all,
    unfinished: () => {
      const last = all().at(-1);
      const isOpen =
        last !== undefined &&
        (last.closed === undefined || (last.closed.end !== 'done' && last.closed.end !== 'budget'));
      return isOpen ? last : undefined;
    },
    lastOf,
    barren: (kind) => {
      const closed = all().filter(({ planned, closed: end }) => planned.kind === kind && end !== undefined);
      const fruitful = closed.findLastIndex(({ closed: end }) => (end?.counts.published ?? 0) > 0);
      return closed.length - 1 - fruitful;
    },
    yields: () => yieldsOf(all()),
    originYields: () => all().flatMap(({ closed }) => closed?.origins ?? []),
    get interactions() {
      return seen.size;
    },
    get unprocessed() {
      return unprocessed;
    },
    failing: (judged, share) =>
      [...areas.values()].flatMap(({ area, list }) => {
        const failures = list.filter(({ isFailure }) => isFailure).length;
        return list.length >= judged && failures >= share * list.length
          ? [{ area, failures, judged: list.length }]
          : [];
      }),
  };
}

/** Whether an interrupted session may still go on. */
export const isContinuable = ({ at }: PastSession, now: number): boolean =>
  Math.abs(now - at) < LONGEST_PAUSE_MS;

function yieldsOf(sessions: readonly PastSession[]): readonly PracticeYield[] {
  const kinds = new Map<PracticeKind, PracticeYield>();
  for (const { planned, closed } of sessions) {
    if (closed === undefined) continue;
    const { kind } = planned;
    const before = kinds.get(kind) ?? { kind, sessions: 0, learned: 0, helpful: 0, spent: NOTHING_SPENT };
    kinds.set(kind, {
      kind,
      sessions: before.sessions + 1,
      learned: before.learned + closed.counts.published,
      helpful: before.helpful + closed.helpful,
      spent: addSpending(before.spent, closed.spent),
    });
  }
  return [...kinds.values()];
}

const areaKey = ({ agent, project, domain }: SessionArea): string =>
  JSON.stringify([agent ?? '', project ?? '', domain ?? '']);

/** What tasks of one origin brought: lessons that went on trial, for the tokens of their attempts. */
export interface OriginYield {
  readonly origin: TaskOrigin;
  readonly tokens: number;
  /** A lesson that rests on tasks of several origins is shared between them. */
  readonly learned: number;
}

/** By the units of a run. `originOf` knows the tasks of its session. */
export function yieldsByOrigin(
  run: string,
  units: ReadonlyMap<string, Json>,
  originOf: (task: string) => TaskOrigin | undefined,
): readonly OriginYield[] {
  const tokens = new Map<TaskOrigin, number>();
  const learned = new Map<TaskOrigin, number>();
  const add = (to: Map<TaskOrigin, number>, origin: TaskOrigin | undefined, amount: number): void => {
    if (origin !== undefined) to.set(origin, (to.get(origin) ?? 0) + amount);
  };
  for (const [unit, value] of units) {
    const [kind = '', step = ''] = unit.split('/');
    const { task, used, proposals } = asObject(value);
    if (kind === 'attempt') add(tokens, originOf(asString(task) ?? ''), asNumber(asObject(used).tokens) ?? 0);
    if (kind !== 'proposals') continue;
    for (const [place, proposal] of asArray(proposals).entries()) {
      const { outcome } = asObject(units.get(`judged/${step}/${place}`));
      if (outcome !== 'trial' && outcome !== 'live') continue;
      // Groups of recorded work cost no attempt and are in no list.
      const groups = asArray(asObject(proposal).groups).map(String);
      const own = groups.flatMap((id) => originOf(id.slice(`${run}/${step}/`.length)) ?? []);
      for (const origin of own) add(learned, origin, 1 / own.length);
    }
  }
  return TASK_ORIGINS.flatMap((origin) =>
    tokens.has(origin)
      ? [{ origin, tokens: tokens.get(origin) ?? 0, learned: learned.get(origin) ?? 0 }]
      : [],
  );
}

/** Tokens whose yield is taken to be that of all origins together: a few attempts prove nothing. */
const PRIOR_TOKENS = 200_000;
const LEAST = 0.5;
const MOST = 1.5;

/** How much an origin pays compared with all of them: 1 at first, between a half and one and a half later. */
export function payOf(origin: TaskOrigin, all: readonly OriginYield[]): number {
  const sum = (of: (one: OriginYield) => number, some: readonly OriginYield[]): number =>
    some.reduce((total, one) => total + of(one), 0);
  const own = all.filter((one) => one.origin === origin);
  const mean =
    sum(({ learned }) => learned, all) /
    Math.max(
      1,
      sum(({ tokens }) => tokens, all),
    );
  if (mean === 0) return 1;
  const rate =
    (sum(({ learned }) => learned, own) + mean * PRIOR_TOKENS) /
    (sum(({ tokens }) => tokens, own) + PRIOR_TOKENS);
  return Math.min(MOST, Math.max(LEAST, rate / mean));
}
