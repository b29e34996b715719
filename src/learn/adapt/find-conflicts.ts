import { principalOfSession } from '../../core/principal.ts';
import type { NewFact, Records, SessionView, TurnView } from '../../core/store.ts';
import type { AppraisedTurn, EvidenceReader } from '../../evidence/evidence-reader.ts';
import { readTurn } from '../../evidence/turn-reading.ts';
import { leaderOf, observedEvent, shortHash } from './observed-event.ts';

export interface ConflictRecords extends Pick<Records, 'session' | 'sessions' | 'turn'> {}

const NEAR_MS = 3_600_000;
const MOST_SESSIONS = 20;
const MOST_COMPARED = 5;
const MOST_CONFLICTS = 4;

/** The time of a file's first and last edit. */
type EditTimes = ReadonlyMap<string, readonly [first: number, last: number]>;

/**
 * Files that this session and another agent's of the same project edited within an hour. Without a project, or without another agent in
 * it, nothing is read.
 */
export async function findConflicts(
  session: string,
  turns: readonly AppraisedTurn[],
  { runKind, caller }: Pick<TurnView, 'runKind' | 'caller'>,
  records: ConflictRecords,
  evidence: Pick<EvidenceReader, 'turns'>,
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
  const found: NewFact[] = [];
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
      found.push({ at: now, fact, key: `observed:task_conflict:${shortHash([...pair, file])}` });
    }
  }
  return found.slice(0, MOST_CONFLICTS);
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
