import { compact, type JsonObject } from '../../core/json.ts';
import { isAttemptId } from '../../core/principal.ts';
import type {
  PageReader,
  PlacedSession,
  SessionFilter,
  SessionPlace,
} from '../../record/store/page-reader.ts';
import { describeSession, isPersonsReward, previewSession, readSessionOutcome } from '../sessions-api.ts';

export interface SessionSearch extends SessionFilter {
  /** Words: all sessions whose conversation has them, or whose id, agent or project does. */
  readonly q?: string | undefined;
  readonly outcome?: 'good' | 'bad' | 'rated' | undefined;
  /** Only sessions in which this lesson was shown; with `arm`, those that its measured effect counts there. */
  readonly lesson?: string | undefined;
  readonly arm?: 'with' | 'without' | undefined;
  /** With `arm`: only scores from this time on. A new text of a lesson restarts its measurement. */
  readonly since?: number | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A search that finds little ends here: the page goes on with `next`, and other reads get their turn. */
const SEARCH_MS = 70;
/** Sessions that are read from the index at once. */
const BATCH = 200;

/** A page of sessions, newest first, with previews. A search reads the words of conversations, which no index has: they must be erasable. */
export async function listSessions(search: SessionSearch, reader: PageReader): Promise<JsonObject> {
  const isSearch = [search.q, search.outcome, search.lesson].some((value) => value !== undefined);
  const found = await (isSearch ? searchSessions(search, reader) : pageOf(search, reader));
  const sessions: JsonObject[] = [];
  for (const { session } of found.sessions)
    sessions.push(
      compact({
        ...describeSession(session),
        ...(await previewSession(session, reader)),
        isPractice: isAttemptId(session.id) || undefined,
      }),
    );
  const { last, searched } = found;
  return compact({
    sessions,
    next: found.isWhole || last === undefined ? undefined : writePlace(last.place),
    searched: isSearch
      ? compact({
          sessions: searched,
          back: last && new Date(last.session.lastAt).toISOString(),
        })
      : undefined,
  });
}

interface Found {
  readonly sessions: readonly PlacedSession[];
  /** The last one that was looked at. */
  readonly last: PlacedSession | undefined;
  readonly searched: number;
  /** There are no others. */
  readonly isWhole: boolean;
}

async function pageOf({ cursor, limit, ...filter }: SessionSearch, reader: PageReader): Promise<Found> {
  const sessions = await reader.listSessions(filter, readPlace(cursor), limit);
  return { sessions, last: sessions.at(-1), searched: sessions.length, isWhole: sessions.length < limit };
}

async function searchSessions(search: SessionSearch, reader: PageReader): Promise<Found> {
  const { cursor, limit } = search;
  const until = performance.now() + SEARCH_MS;
  const sessions: PlacedSession[] = [];
  const isWanted = matcherOf(search, reader);
  let last: PlacedSession | undefined;
  let searched = 0;
  for (;;) {
    const batch = await reader.listSessions(search, last?.place ?? readPlace(cursor), BATCH);
    for (const one of batch) {
      last = one;
      searched++;
      if (await isWanted(one)) sessions.push(one);
      if (sessions.length >= limit || performance.now() > until)
        return { sessions, last, searched, isWhole: batch.length < BATCH && one === batch.at(-1) };
    }
    if (batch.length < BATCH) return { sessions, last, searched, isWhole: true };
  }
}

function matcherOf(search: SessionSearch, reader: PageReader): (one: PlacedSession) => Promise<boolean> {
  const { q, outcome, lesson } = search;
  const words = q?.toLowerCase() ?? '';
  // Texts are stored as JSON.
  const stored = JSON.stringify(words).slice(1, -1);
  const hasWords = async ({ session }: PlacedSession): Promise<boolean> =>
    words === '' ||
    [session.id, session.agent, session.client ?? '', session.project?.label ?? ''].some((name) =>
      name.toLowerCase().includes(words),
    ) ||
    (!session.erased &&
      (await reader.textsOf(session.id)).some((text) => text.toLowerCase().includes(stored)));
  return async (one) =>
    (outcome === undefined || (await hasOutcome(one, outcome, reader))) &&
    (lesson === undefined || (await hasLesson(one.session.id, lesson, search, reader))) &&
    hasWords(one);
}

async function hasLesson(
  session: string,
  lesson: string,
  { arm, since = 0 }: SessionSearch,
  reader: PageReader,
): Promise<boolean> {
  if (arm === undefined) return (await reader.turns(session)).some(({ lessons }) => lessons.includes(lesson));
  const { at = 0, fact: scored } = (await reader.judgements(session, 'session-scored')).at(-1) ?? {};
  if (scored?.type !== 'session-scored' || at < since) return false;
  const { lessons, heldOut, unmeasured = [] } = scored;
  const isShown = lessons.includes(lesson);
  // Shown in one part and held out in another: it belongs to neither arm.
  if (unmeasured.includes(lesson) || isShown === heldOut.includes(lesson)) return false;
  return isShown === (arm === 'with');
}

/** `rated`: by a person. */
async function hasOutcome(
  { session: { id } }: PlacedSession,
  wanted: NonNullable<SessionSearch['outcome']>,
  reader: PageReader,
): Promise<boolean> {
  const { rewards, outcome } = await readSessionOutcome(id, reader);
  return wanted === 'rated' ? rewards.some(isPersonsReward) : outcome === wanted;
}

const writePlace = ({ lastAt, n }: SessionPlace): string => `${lastAt}.${n}`;

function readPlace(cursor: string | undefined): SessionPlace | undefined {
  const [, lastAt, n] = /^(\d{1,16})\.(\d{1,16})$/.exec(cursor ?? '') ?? [];
  return lastAt === undefined ? undefined : { lastAt: Number(lastAt), n: Number(n) };
}
