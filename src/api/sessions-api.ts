import type { DaemonApi, NewestTurnQuery, SessionPart } from '../core/daemon-api.ts';
import type { StoredFact } from '../core/fact.ts';
import { compact, type JsonObject, parseJson } from '../core/json.ts';
import type { AsyncReads, Records, RewardView, SessionView, TurnView } from '../core/store.ts';
import { episodeItem } from '../evidence/episode.ts';
import { isLearnedFrom } from '../evidence/learned-from.ts';
import { eachFactOf } from '../lessons/each-fact.ts';
import { type BlockCache, readRecordedRequest } from '../record/request-manifest.ts';
import { encodeChatRow, readStoredTurn } from '../record/stored-turn.ts';
import { describeUnreadable } from '../record/unreadable-body.ts';
import { previewAnswer, previewQuestion, previewTurn, readWholeTurn } from './turn-preview.ts';

/** What people may see of the recorded conversations. */
export function createSessionsApi(
  records: Records,
): Pick<DaemonApi, 'sessions' | 'session' | 'trajectory' | 'turn' | 'newestTurn'> {
  return {
    sessions: async ({ preview, practice, ...query }) => {
      const sessions = await records.sessions({ ...query, withoutPractice: practice !== true });
      if (preview !== true) return sessions.map(describeSession);
      const described: JsonObject[] = [];
      for (const session of sessions)
        described.push({ ...describeSession(session), ...(await previewSession(session, records)) });
      return described;
    },
    session: async (id, part) => {
      const session = await describeTurns(id, records, part ?? {});
      if (session === undefined || part?.learned !== true) return session;
      const turns = (await records.turns(id)).map((turn) => turn.id);
      const { of: learned, waits } = await whatItTaught(id, turns, records);
      const isRead = (await records.judgements(id, 'session-scored')).length > 0;
      return compact({ ...session, learned: { ...(learned ?? { lessons: [] }), waits, isRead } });
    },
    trajectory: (id, { chat } = {}) => describeTrajectory(id, records, chat === true),
    turn: async (id) => {
      const turn = await records.turn(id);
      return turn && describeSubject(turn, records);
    },
    newestTurn: async (query) => {
      // A turn is recorded a moment after its reply has ended: an append waits for all that came before it.
      await records.append([]);
      const turn = await findNewestTurn(query, records);
      return turn && describeSubject(turn, records);
    },
  };
}

/** A session with the bodies of its turns, as stored or as chat messages, and with all that is known of how each turn went. */
async function describeTrajectory(
  id: string,
  records: Records,
  isChat: boolean,
): Promise<JsonObject | undefined> {
  const session = await records.session(id);
  if (session === undefined) return undefined;
  const verdicts = verdictsOf(await records.judgements(id, 'turn-appraised'));
  const rules = rulesOf(await records.judgements(id, 'rules-observed'));
  const cited = await citedTurns(records);
  const scored = (await records.judgements(id, 'session-scored')).at(-1)?.fact;
  const known: BlockCache = new Map();
  const turns: JsonObject[] = [];
  for (const turn of await records.turns(id)) {
    const rewards = await records.rewards({ turn: turn.id });
    const judged = verdicts.get(turn.id);
    turns.push({
      ...describeTurn(turn, rewards),
      ...judgementOf(judged, rewards),
      ...compact({ parts: judged?.parts, rules: rules.get(turn.id), data: dataOf(turn, judged, cited) }),
      ...(isChat ? await readChat(turn, records, known) : await readBodies(turn, records)),
    });
  }
  return compact({
    ...describeSession(session),
    rewards: await sessionRewards(id, records),
    score: scored?.type === 'session-scored' ? scored.score : undefined,
    turns,
  });
}

/** The turns that lessons were learned from. */
async function citedTurns(records: Pick<AsyncReads, 'factsOf'>): Promise<ReadonlySet<string>> {
  const turns = new Set<string>();
  await eachFactOf('cycle-end', records, ({ fact }) => {
    if (fact.type === 'cycle-end') for (const turn of fact.turns) turns.add(turn);
  });
  return turns;
}

/** `support`: it failed or fed a lesson, and trains nothing. `query`: weights may train on it, under its generation. */
function dataOf(
  turn: TurnView,
  judged: Judged | undefined,
  cited: ReadonlySet<string>,
): 'support' | 'query' | undefined {
  if (cited.has(turn.id) || judged?.said.verdict === 'failure') return 'support';
  const isSample = judged?.said.verdict === 'success' && judged.said.judgedBy !== 'agent';
  return isSample && turn.role === 'main' && isLearnedFrom(turn) ? 'query' : undefined;
}

/** Which of the rules that a turn was shown it kept, broke, or had to be told again. */
function rulesOf(facts: readonly StoredFact[]): ReadonlyMap<string, JsonObject[]> {
  const rules = new Map<string, JsonObject[]>();
  for (const { fact } of facts) {
    if (fact.type !== 'rules-observed') continue;
    const seen = fact.results.map(({ lesson, revision, outcome }) => ({ lesson, revision, outcome }));
    rules.set(fact.turn, [...(rules.get(fact.turn) ?? []), ...seen]);
  }
  return rules;
}

/** The turn as chat messages, whatever its wire; nothing for one that was erased or cannot be decoded. */
async function readChat(turn: TurnView, records: Records, known: BlockCache): Promise<JsonObject> {
  const decoded = await readStoredTurn(turn, records, known);
  return decoded === undefined ? {} : { chat: encodeChatRow(decoded) };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();

/** A session without its turns. */
export const describeSession = (session: SessionView): JsonObject =>
  compact({
    id: session.id,
    agent: session.agent,
    client: session.client,
    project: session.project && { ...session.project },
    turns: session.turns,
    startedAt: isoTime(session.startedAt),
    lastAt: isoTime(session.lastAt),
    endedAt: session.endedAt === undefined ? undefined : isoTime(session.endedAt),
    erased: session.erased ? true : undefined,
  });

/** So many turns at each end of a session are searched for the person's question and for the last answer. */
const SEARCHED = 6;

/**
 * `{ asked, answered, lessons, score, outcome, rewards }`: the first question, the last answer, how many lessons its turns were shown, how
 * it went. Reads a few turns only.
 */
export async function previewSession({ id, erased }: SessionView, records: AsyncReads): Promise<JsonObject> {
  if (erased) return {};
  const known: BlockCache = new Map();
  const first = await records.turns(id, { limit: SEARCHED });
  const last = await records.turns(id, { limit: SEARCHED, fromEnd: true });
  let asked: string | undefined;
  for (const turn of mainFirst(first)) asked ??= await previewQuestion(turn, records, known);
  let answered: string | undefined;
  for (const turn of mainFirst(last.toReversed())) answered ??= await previewAnswer(turn, records);
  const { rewards, ...how } = await readSessionOutcome(id, records);
  const runKind = first[0]?.runKind;
  return compact({
    asked,
    answered,
    runKind: OWN_RUNS.has(runKind) ? runKind : undefined,
    lessons: new Set([...first, ...last].flatMap(({ lessons }) => lessons)).size,
    ...how,
    rewards: rewards.length === 0 ? undefined : rewards.map(describeReward),
  });
}

/** How a session went, for everyone who says so: the last word of a person, else the last reward, else its score of 0 to 1. */
export async function readSessionOutcome(
  id: string,
  records: AsyncReads,
): Promise<{
  readonly rewards: readonly RewardView[];
  readonly score?: number | undefined;
  readonly outcome?: 'good' | 'bad' | undefined;
}> {
  const given = [...(await records.rewards({ session: id })), ...(await records.rewards({ turnsOf: id }))];
  const rewards = given.sort((a, b) => a.seq - b.seq);
  const scored = (await records.judgements(id, 'session-scored')).at(-1)?.fact;
  const score = scored?.type === 'session-scored' ? scored.score : undefined;
  const telling = rewards.filter((reward) => reward.score !== 0);
  const last = telling.findLast(isPersonsReward) ?? telling.at(-1);
  const value = last?.score ?? (score === undefined ? 0 : score - 0.5);
  return { rewards, score, outcome: value === 0 ? undefined : value < 0 ? 'bad' : 'good' };
}

export const isPersonsReward = ({ source }: Pick<RewardView, 'source'>): boolean =>
  source === 'person' || source === 'chat';

const mainFirst = (turns: readonly TurnView[]): readonly TurnView[] => {
  const main = turns.filter(({ role }) => role === 'main');
  return main.length > 0 ? main : turns;
};

const describeReward = ({ at, source, score, note }: RewardView): JsonObject =>
  compact({ source, score, note, at: isoTime(at) });

const sessionRewards = async (session: string, records: AsyncReads): Promise<JsonObject[]> =>
  (await records.rewards({ session })).map(describeReward);

/** A session with a part of its turns. */
export async function describeTurns(
  id: string,
  records: AsyncReads,
  { from, turn: linked, limit, hidesAux, full }: SessionPart,
): Promise<JsonObject | undefined> {
  const session = await records.session(id);
  if (session === undefined) return undefined;
  const all = (await records.turns(id)).map((turn, index) => ({ turn, n: index + 1 }));
  const auxiliary = all.filter(({ turn }) => turn.role === 'aux').length;
  // A session of auxiliary calls alone has nothing else to show.
  const found = linked === undefined ? undefined : all.find(({ turn }) => turn.id === linked);
  const isHiding = hidesAux === true && auxiliary < all.length && found?.turn.role !== 'aux';
  const wanted = isHiding ? all.filter(({ turn }) => turn.role !== 'aux') : all;
  const page = partOf(wanted, limit, found === undefined ? from : firstAround(found.n, wanted, limit));
  const verdicts = verdictsOf(await records.judgements(id, 'turn-appraised'));
  const rules = rulesOf(await records.judgements(id, 'rules-observed'));
  const known: BlockCache = new Map();
  const turns: JsonObject[] = [];
  for (const { turn, n } of page) {
    const rewards = await records.rewards({ turn: turn.id });
    const texts = session.erased ? {} : await previewTurn(turn, records, known);
    turns.push({
      ...describeTurn(turn, rewards),
      n,
      ...judgementOf(verdicts.get(turn.id), rewards),
      ...compact({ parts: verdicts.get(turn.id)?.parts, rules: rules.get(turn.id) }),
      ...texts,
      ...(full === true && !session.erased ? await readWholeTurn(turn, records, known) : {}),
    });
  }
  const [first, last] = [page[0], page.at(-1)];
  return compact({
    ...describeSession(session),
    rewards: await sessionRewards(id, records),
    turnCount: all.length,
    /** The number of the turn that was asked for. */
    at: found?.n,
    hidden: isHiding && auxiliary > 0 ? auxiliary : undefined,
    /** The number of the turn with which the page before this one begins, and the one after it. */
    earlier: first && pageBefore(wanted, first.n, limit),
    later: last && wanted.find(({ n }) => n > last.n)?.n,
    turns,
  });
}

const lastOf = <T>(items: readonly T[], most: number): readonly T[] =>
  items.slice(Math.max(0, items.length - most));

interface Numbered {
  readonly n: number;
}

/** From a number on, else the last ones. */
function partOf<T extends Numbered>(
  turns: readonly T[],
  limit: number | undefined,
  from: number | undefined,
): readonly T[] {
  const rest = turns.filter(({ n }) => n >= (from ?? 1));
  if (limit === undefined) return rest;
  return from === undefined ? lastOf(rest, limit) : rest.slice(0, limit);
}

/** The number from which `limit` turns have this one in their middle, where there are enough on both sides. */
function firstAround(wanted: number, turns: readonly Numbered[], limit = turns.length): number | undefined {
  const place = turns.findIndex(({ n }) => n === wanted);
  return turns[Math.max(0, Math.min(place - Math.floor(limit / 2), turns.length - limit))]?.n;
}

const pageBefore = (
  turns: readonly Numbered[],
  first: number,
  limit: number | undefined,
): number | undefined =>
  lastOf(
    turns.filter(({ n }) => n < first),
    limit ?? 1,
  )[0]?.n;

interface Judged {
  readonly seq: number;
  /** `{ verdict, reward, judgedBy, reasons }`. */
  readonly said: JsonObject;
  /** The reward by its parts: each sign with its source and weight. */
  readonly parts: JsonObject[];
}

/** The newest appraisal of each turn. */
function verdictsOf(facts: readonly StoredFact[]): ReadonlyMap<string, Judged> {
  const verdicts = new Map<string, Judged>();
  for (const { seq, fact } of facts) {
    if (fact.type !== 'turn-appraised') continue;
    const { verdict, reward, source, signals } = fact;
    const reasons = [...new Set(signals.map(({ reason }) => reason))].filter((reason) => reason !== '');
    const parts = signals.map(({ name, source: from, score, weight }) => ({
      name,
      source: from,
      score,
      weight,
    }));
    verdicts.set(fact.turn, { seq, said: compact({ verdict, reward, judgedBy: source, reasons }), parts });
  }
  return verdicts;
}

/** What a person said last counts at once: an appraisal from before it is not shown any more, and the next one knows it. */
function judgementOf(appraised: Judged | undefined, rewards: readonly RewardView[]): JsonObject {
  const mark = rewards.findLast(({ source }) => source === 'person');
  if (mark === undefined) return { ...appraised?.said };
  const known = { mark: describeReward(mark) };
  if (appraised !== undefined && appraised.seq > mark.seq) return { ...appraised.said, ...known };
  const verdict = mark.score < 0 ? 'failure' : mark.score > 0 ? 'success' : 'ambiguous';
  return { verdict, judgedBy: 'person', ...known };
}

function describeTurn(turn: TurnView, rewards: readonly RewardView[]): JsonObject {
  return compact({
    id: turn.id,
    status: turn.status ?? 'open',
    role: turn.role,
    runKind: turn.runKind,
    model: turn.model,
    policy: turn.policy,
    generation: turn.generation,
    lessons: [...turn.lessons],
    startedAt: isoTime(turn.startedAt),
    endedAt: turn.endedAt === undefined ? undefined : isoTime(turn.endedAt),
    failure: turn.failure,
    caller: turn.caller,
    unreadable:
      turn.unreadable &&
      compact({ request: turn.unreadable.request?.why, reply: turn.unreadable.reply?.why }),
    usage: turn.usage && { ...turn.usage },
    firstByteMs: turn.firstByteMs,
    totalMs: turn.totalMs,
    rewards: rewards.map(describeReward),
  });
}

/** A turn that a person may rate, with what they need to recognise it. */
async function describeSubject(turn: TurnView, records: Records): Promise<JsonObject> {
  const session = await records.session(turn.session);
  const known: BlockCache = new Map();
  return compact({
    ...describeTurn(turn, await records.rewards({ turn: turn.id })),
    session: turn.session,
    agent: turn.agent,
    project: session?.project && { ...session.project },
    asked: session?.erased === true ? undefined : await previewQuestion(turn, records, known),
    answered: session?.erased === true ? undefined : await previewAnswer(turn, records),
    erased: session?.erased === true ? true : undefined,
    isLearnedFrom: isLearnedFrom(turn),
  });
}

/** Runs that Instar makes itself: nobody sees their answers. */
const OWN_RUNS: ReadonlySet<string | undefined> = new Set(['train', 'practice']);
/** The newest sessions that are searched. Those of one agent and project nearly always have a main turn. */
const MOST_SEARCHED = 100;

/** The newest turn of a main agent that has ended; without any, one that still runs. */
async function findNewestTurn(
  { agent, projects }: NewestTurnQuery,
  records: Records,
): Promise<TurnView | undefined> {
  for (const project of projects ?? [undefined]) {
    const sessions = await records.sessions({
      limit: MOST_SEARCHED,
      withoutPractice: true,
      ...(agent === undefined ? {} : { agent }),
      ...(project === undefined ? {} : { project }),
    });
    let best: TurnView | undefined;
    for (const session of sessions) {
      // Sessions are ordered by their newest turn, which may be an auxiliary one.
      if (best?.status !== undefined && session.lastAt < best.startedAt) break;
      if (session.erased) continue;
      const newest = await newestOf(session.id, records);
      if (newest !== undefined && isBetter(newest, best)) best = newest;
    }
    if (best !== undefined) return best;
  }
  return undefined;
}

async function newestOf(session: string, records: Records): Promise<TurnView | undefined> {
  for (const page of [{ limit: SEARCHED, fromEnd: true }, undefined]) {
    const turns = (await records.turns(session, page)).filter(
      ({ role, runKind }) => role === 'main' && !OWN_RUNS.has(runKind),
    );
    const found = turns.findLast(({ status }) => status !== undefined) ?? turns.at(-1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isBetter = (turn: TurnView, best: TurnView | undefined): boolean => {
  if (best === undefined) return true;
  if ((turn.status === undefined) !== (best.status === undefined)) return best.status === undefined;
  return turn.startedAt > best.startedAt;
};

/** The request and the reply as they are stored. */
async function readBodies(turn: TurnView, records: Records): Promise<JsonObject> {
  const stored = turn.reply === undefined ? undefined : await records.block(turn.reply);
  const unreadable = turn.unreadable?.reply;
  return {
    request: (await readRequest(turn, records)) ?? null,
    reply: unreadable ? describeUnreadable(unreadable, stored) : ((stored && parseJson(stored)) ?? null),
  };
}

async function readRequest(
  { request, unreadable }: TurnView,
  records: Records,
): Promise<JsonObject | undefined> {
  if (unreadable?.request !== undefined)
    return describeUnreadable(unreadable.request, request && (await records.block(request)));
  return request === undefined ? undefined : readRecordedRequest(request, records, new Map());
}

/** Cycles and queued items are looked through for it, the newest of them. */
const MOST_CYCLES = 500;

interface Taught {
  /** What the cycles that took it up made of it; undefined while none has. */
  readonly of: JsonObject | undefined;
  /** Parts of it that wait for a learner. */
  readonly waits: number;
}

/** What a session or an episode taught: the judgements of the cycles that cite its turns, or took up what was queued of it. */
export async function whatItTaught(
  id: string,
  turns: readonly string[],
  records: Pick<AsyncReads, 'newestOf'>,
): Promise<Taught> {
  const cycles = (await records.newestOf('cycle-end', MOST_CYCLES)).flatMap(({ fact }) =>
    fact.type === 'cycle-end' ? [fact] : [],
  );
  const queued = (await records.newestOf('learning-queued', MOST_CYCLES)).flatMap(({ fact }) =>
    fact.type === 'learning-queued' && fact.session === id ? [fact.item] : [],
  );
  const [own, cited] = [new Set([...queued, episodeItem(id)]), new Set(turns)];
  const found = cycles.filter(
    (cycle) => cycle.items.some((item) => own.has(item)) || cycle.turns.some((turn) => cited.has(turn)),
  );
  const done = new Set(cycles.flatMap(({ items }) => items));
  const waits = queued.filter((item) => !done.has(item)).length;
  if (found.length === 0) return { of: undefined, waits };
  const judgements = found.flatMap((cycle) => cycle.judgements);
  const lessons = judgements.map(({ lesson, name, outcome }) => ({ id: lesson, name, outcome }));
  const why = [...new Set(judgements.flatMap((one) => one.why))].join('; ') || found.at(-1)?.note;
  return { of: { lessons, ...compact({ why }) }, waits };
}
