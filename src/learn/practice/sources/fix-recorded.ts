import { isObject, type Json, toJson } from '../../../core/json.ts';
import type { AttemptGroup, PracticeJournal } from '../../../core/practice.ts';
import { sessionsOfGroup } from '../attempt-batch.ts';
import type { PastSession, SessionArea } from '../practice-history.ts';
import { contentKey } from '../practice-units.ts';
import { hasSpread } from '../spread.ts';
import type { RecordedGroup } from './recorded-groups.ts';

/** Groups of recorded work that one session learns from, and no more than it has tasks: they cost questions, too. */
const MOST_RECORDED = 10;
/** Rewards that the record gives are rough: a smaller difference says nothing. */
const TOLERANCE = 0.2;
const CHOSEN = 'recorded';

/**
 * The recorded groups of a run: of its area, with better and worse work, and none that an earlier run has learned from. They are
 * chosen once and journaled, as they were then: a run that is continued sees the same, without what was erased since.
 */
export async function fixRecordedGroups(
  { area, tasks }: Pick<PastSession['planned'], 'area' | 'tasks'>,
  journal: PracticeJournal,
  find: (signal: AbortSignal) => Promise<readonly RecordedGroup[]>,
  signal: AbortSignal,
): Promise<readonly AttemptGroup[]> {
  const before = await journal.read(CHOSEN);
  if (isObject(before) && Array.isArray(before.units)) return readGroups(before.units.map(String), journal);
  const most = tasks.length === 0 ? MOST_RECORDED : Math.min(MOST_RECORDED, tasks.length);
  const units: string[] = [];
  for (const { group: found } of await find(signal)) {
    // Work that an outage ended has no place among better and worse attempts.
    const group = { ...found, attempts: found.attempts.filter(({ outcome }) => outcome.is === 'graded') };
    if (units.length >= most) break;
    if (!inArea(group, area) || !hasSpread(group, TOLERANCE)) continue;
    const unit = `${CHOSEN}/${group.id}`;
    const key = contentKey(
      CHOSEN,
      group.attempts.map(({ id, outcome }) => [id, outcome]),
    );
    const isOwn = (await journal.read(unit)) !== undefined;
    if (!isOwn && (await journal.cached?.(key)) !== undefined) continue;
    await journal.write(unit, toJson(group), { sessions: sessionsOfGroup(group), key });
    units.push(unit);
  }
  // What was read before an abort is not all that there is: the choice is made when the run goes on.
  if (!signal.aborted) await journal.write(CHOSEN, { units });
  return readGroups(units, journal);
}

/** Whether what a group is about lies in the area of a session. */
export const inArea = ({ task }: AttemptGroup, area: SessionArea): boolean =>
  (['agent', 'project', 'domain'] as const).every(
    (name) => area[name] === undefined || area[name] === task[name],
  );

async function readGroups(
  units: readonly string[],
  journal: PracticeJournal,
): Promise<readonly AttemptGroup[]> {
  const groups: AttemptGroup[] = [];
  for (const unit of units) {
    const stored = await journal.read(unit);
    if (isGroup(stored)) groups.push(stored);
  }
  return groups;
}

const isGroup = (value: Json | undefined): value is Json & AttemptGroup =>
  isObject(value) && isObject(value.task) && Array.isArray(value.attempts);
