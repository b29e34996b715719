import type { Appraisal, TurnEvidence } from '../core/evidence.ts';
import type { TurnMaterial } from '../core/learn.ts';
import type { LabelledSpan } from '../core/reading.ts';
import type { DecodedTurn, Records, RewardView, TurnView } from '../core/store.ts';
import { appraise } from './appraise.ts';
import { readEpisodeEvidence } from './episode.ts';
import { isLearnedFrom } from './learned-from.ts';
import { EDIT_FAILED } from './signals/tool-signals.ts';
import { type ConversationTail, conversationTail, tailCharacters } from './trajectory.ts';
import { createTurnEvidence, evidenceCharacters, messagesAfter, requestCharacters } from './turn-evidence.ts';
import {
  createSessionTexts,
  materialCharacters,
  readMaterial,
  readReportedMaterial,
  type SessionTexts,
} from './turn-material.ts';
import { toSpokenTurn } from './turn-reading.ts';

/** The part of the record that evidence is read from. */
export interface EvidenceRecords
  extends Pick<Records, 'session' | 'turns' | 'rewards' | 'events' | 'judgements'> {
  /** A decoder for the turns of one session, which share the blocks it has parsed. */
  decoder(): DecodeTurn;
}

/** Undefined for a turn that was erased or that its wire cannot decode. */
type DecodeTurn = (view: TurnView) => Promise<DecodedTurn | undefined>;

export interface AppraisedTurn {
  readonly evidence: TurnEvidence;
  readonly appraisal: Appraisal;
  /** −1 for an episode: it has no tokens to train on. */
  readonly generation: number;
  readonly material?: TurnMaterial;
  /** For turns that were recorded as requests. */
  readonly conversation?: ConversationTail;
  /** Ids of the lessons that the turn was shown. */
  readonly shown?: readonly string[];
}

/**
 * The turns of sessions with their appraisals, oldest first. A turn is decoded and appraised once, and again only when its
 * evidence has changed: a reward or the next request arrived, or a model has read a message. Rejects with `StoreError`.
 */
export interface EvidenceReader {
  /**
   * All main turns of the session that have ended, or only the wanted ones. Turns that cannot be decoded are left out. An
   * episode that an agent reported counts as one turn.
   */
  turns(session: string, wanted?: readonly string[]): Promise<readonly AppraisedTurn[]>;
  /** The changed turns and the turn before each of them: a turn's consequences appear in the next request. */
  affectedTurns(session: string, changed?: readonly string[]): Promise<readonly AppraisedTurn[]>;
  /** The session was erased. */
  forget(session: string): void;
}

interface EvidenceReaderOptions {
  /** How many characters of conversations are kept in memory. */
  readonly mostCharacters?: number;
}

interface SessionEvidence {
  readonly decode: DecodeTurn;
  /** The last turns that were decoded: reading in order needs each of them twice. */
  readonly decoded: Map<string, DecodedTurn | undefined>;
  readonly texts: SessionTexts;
  /** The first turns of the session, as far as they have ended: they do not change any more. */
  views: readonly TurnView[];
  readonly turns: Map<string, { readonly version: string; readonly turn: AppraisedTurn }>;
  characters: number;
}

const NO_GENERATION = -1;
/** How many turns may pass until a failed edit is made right. */
const LOOK_AHEAD = 4;
const MOST_SESSIONS = 32;
const MOST_DECODED = 2;
/** A session of a thousand turns takes about 13 million: most are places in lists. */
const MOST_CHARACTERS = 32_000_000;
/** About what a turn's view takes. */
const VIEW = 500;

export function createEvidenceReader(
  records: EvidenceRecords,
  { mostCharacters = MOST_CHARACTERS }: EvidenceReaderOptions = {},
): EvidenceReader {
  const cache = createSessionCache(records, mostCharacters);
  const mainTurns = async (session: string): Promise<readonly TurnView[]> =>
    (await readViews(records, cache, session)).filter((view) => view.role === 'main' && isLearnedFrom(view));
  const turnsOf = async (
    session: string,
    views: readonly TurnView[],
    wanted: ReadonlySet<string> | undefined,
  ): Promise<readonly AppraisedTurn[]> => {
    const ended = views.filter(({ status }) => status !== undefined);
    const turns =
      ended.length === 0
        ? []
        : await readTurns(records, cache.open(session), { session, views: ended, wanted });
    if (ended.length > 0) cache.evict();
    if (turns.length > 0) return turns;
    const reported = await readEpisodeEvidence(session, records);
    if (reported === undefined) return [];
    const { evidence } = reported;
    return [createAppraisedTurn(evidence, NO_GENERATION, readReportedMaterial(evidence))];
  };

  return {
    turns: async (session, wanted) => turnsOf(session, await mainTurns(session), wanted && new Set(wanted)),
    affectedTurns: async (session, changed) => {
      const views = await mainTurns(session);
      if (changed === undefined) return turnsOf(session, views, undefined);
      const wanted = new Set(changed);
      const turns = cache.find(session)?.turns;
      const affected = new Set(wanted);
      views.forEach(({ id }, index) => {
        if (!wanted.has(id)) return;
        for (let back = 1; back <= LOOK_AHEAD; back++) {
          const before = views[index - back];
          if (before !== undefined && (back === 1 || isOpen(turns?.get(before.id)?.turn)))
            affected.add(before.id);
        }
      });
      return turnsOf(session, views, affected);
    },
    forget: (session) => cache.forget(session),
  };
}

/** What was read of the sessions that were used last. */
interface SessionCache {
  find(session: string): SessionEvidence | undefined;
  /** The session becomes the most recently used one. */
  open(session: string): SessionEvidence;
  forget(session: string): void;
  /** Keeps to the limits. A session that is longer than the limit is not kept at all. */
  evict(): void;
}

function createSessionCache(records: EvidenceRecords, mostCharacters: number): SessionCache {
  /** The least recently used first. */
  const sessions = new Map<string, SessionEvidence>();
  return {
    find: (session) => sessions.get(session),
    open: (session) => {
      const evidence = sessions.get(session) ?? {
        decode: records.decoder(),
        decoded: new Map(),
        texts: createSessionTexts(),
        views: [],
        turns: new Map(),
        characters: 0,
      };
      sessions.delete(session);
      sessions.set(session, evidence);
      return evidence;
    },
    forget: (session) => void sessions.delete(session),
    evict: () => {
      let total = 0;
      for (const { characters } of sessions.values()) total += characters;
      for (const [session, { characters }] of sessions) {
        if (sessions.size <= MOST_SESSIONS && total <= mostCharacters) return;
        sessions.delete(session);
        total -= characters;
      }
    },
  };
}

/** All turns of a session. Only what is new since the last time is read. */
async function readViews(
  records: EvidenceRecords,
  cache: SessionCache,
  session: string,
): Promise<readonly TurnView[]> {
  const view = await records.session(session);
  if (view === undefined || view.erased) {
    cache.forget(session);
    return records.turns(session);
  }
  const before = cache.open(session).views;
  const last = before.at(-1);
  const limit = Math.max(0, view.turns - before.length) + 1;
  const fresh = last === undefined ? [] : await records.turns(session, { limit, fromEnd: true });
  // The last turn of before must be the first of the fresh ones, and unchanged: otherwise another turn began between the two reads,
  // or the session was erased and has begun again.
  const isSame = last !== undefined && fresh[0]?.id === last.id && fresh[0].request === last.request;
  if (!isSame) cache.forget(session);
  const all = isSame ? [...before, ...fresh.slice(1)] : await records.turns(session);
  const evidence = cache.open(session);
  const unended = all.findIndex(({ status }) => status === undefined);
  const ended = unended < 0 ? all : all.slice(0, unended);
  evidence.characters += VIEW * (ended.length - evidence.views.length);
  evidence.views = ended;
  return all;
}

interface TurnsQuery {
  readonly session: string;
  readonly views: readonly TurnView[];
  /** Ids; undefined: all. */
  readonly wanted: ReadonlySet<string> | undefined;
}

async function readTurns(
  records: EvidenceRecords,
  evidence: SessionEvidence,
  { session, views, wanted }: TurnsQuery,
): Promise<readonly AppraisedTurn[]> {
  const wholeSession = await records.rewards({ session });
  const isRated = wanted !== undefined || (await records.rewards({ turnsOf: session })).length > 0;
  const readings = await readReadings(records, session);
  const turns: AppraisedTurn[] = [];
  for (const [index, view] of views.entries()) {
    if (wanted !== undefined && !wanted.has(view.id)) continue;
    const own = isRated ? await records.rewards({ turn: view.id }) : [];
    // A reward for the whole session counts for its last turn.
    const given = index === views.length - 1 ? [...own, ...wholeSession] : own;
    const turn = await readTurn(evidence, { session, views, index, given, readings });
    if (turn !== undefined) turns.push(turn);
  }
  return turns;
}

type Readings = ReadonlyMap<string, readonly LabelledSpan[]>;

/** What a model read in the messages of a session, by the first turn that answers each. */
async function readReadings(records: Pick<Records, 'judgements'>, session: string): Promise<Readings> {
  const facts = await records.judgements(session, 'message-read');
  return new Map(
    facts.flatMap(({ fact }) => (fact.type === 'message-read' ? [[fact.turn, fact.spans]] : [])),
  );
}

/** A turn of a session, with what was given for it. */
interface TurnPlace {
  readonly session: string;
  readonly views: readonly TurnView[];
  readonly index: number;
  readonly given: readonly RewardView[];
  readonly readings: Readings;
}

/** As it was appraised before, unless its evidence has changed. */
async function readTurn(evidence: SessionEvidence, place: TurnPlace): Promise<AppraisedTurn | undefined> {
  const { views, index } = place;
  const view = views[index];
  if (view === undefined) return undefined;
  const before = evidence.turns.get(view.id);
  const reached = views.slice(index + 2, index + 1 + LOOK_AHEAD).at(-1);
  const appraiseWith = async (later: TurnView | undefined) => {
    const version = versionOf(view, place, later);
    if (before?.version === version) return before;
    const turn = await appraiseTurn(evidence, place, later);
    return turn && { version, turn };
  };
  const first = await appraiseWith(isOpen(before?.turn) ? reached : undefined);
  // Whether it is open shows only now: what followed is read at once, as it would be the next time.
  const isNewlyOpen =
    first !== before && reached !== undefined && !isOpen(before?.turn) && isOpen(first?.turn);
  const appraised = isNewlyOpen ? await appraiseWith(reached) : first;
  if (appraised === undefined) return undefined;
  const { turn } = appraised;
  if (turn !== before?.turn) {
    evidence.turns.set(view.id, appraised);
    evidence.characters += turnCharacters(turn) - turnCharacters(before?.turn);
  }
  return turn;
}

/** About how many characters are kept for a turn. */
const turnCharacters = (turn: AppraisedTurn | undefined): number =>
  turn === undefined
    ? 0
    : evidenceCharacters(turn.evidence) +
      (turn.material === undefined ? 0 : materialCharacters(turn.material)) +
      (turn.conversation === undefined ? 0 : tailCharacters(turn.conversation));

/** Changes whenever the turn's evidence does. */
function versionOf(
  { id, status, failure, request, reply }: TurnView,
  { views, index, given, readings }: TurnPlace,
  later: TurnView | undefined,
): string {
  const next = views[index + 1]?.id;
  const read = [readings.get(id), readings.get(next ?? '')];
  return JSON.stringify([
    status,
    failure,
    request,
    reply,
    next,
    given.map(({ seq }) => seq),
    later?.id,
    read,
  ]);
}

/** The next turns may correct the edit that failed in this one. */
const isOpen = (turn: AppraisedTurn | undefined): boolean =>
  turn?.appraisal.signals.some(({ name }) => name === EDIT_FAILED) ||
  turn?.evidence.next?.isCorrected === true;

async function appraiseTurn(
  cached: SessionEvidence,
  { session, views, index, given, readings }: TurnPlace,
  later: TurnView | undefined,
): Promise<AppraisedTurn | undefined> {
  const view = views[index];
  const recorded = view && (await decodeOnce(cached, view));
  if (recorded === undefined) return undefined;
  const turn = toSpokenTurn(recorded);
  let after: DecodedTurn | undefined;
  for (let next = index + 1; after === undefined && next < views.length; next++) {
    const following = views[next];
    const decoded = following && (await decodeOnce(cached, following));
    after = decoded && toSpokenTurn(decoded);
  }
  const latest = later && (await decodeOnce(cached, later));
  const evidence = createTurnEvidence({
    session,
    turn,
    after,
    later: latest && toSpokenTurn(latest),
    given,
    readings,
  });
  const { reply } = turn;
  // An answer may rest on anything in its request.
  const { request } = recorded;
  const followed = messagesAfter(turn, after);
  const { generation, lessons, caller } = turn.view;
  const material = readMaterial({ request, reply, followed, given: evidence.given, caller }, cached.texts);
  return {
    ...createAppraisedTurn(evidence, generation, material),
    conversation: conversationTail(turn.request.messages, reply, followed),
    ...(lessons.length === 0 ? {} : { shown: lessons }),
  };
}

/** The only place where turns are appraised. */
const createAppraisedTurn = (
  evidence: TurnEvidence,
  generation: number,
  material: TurnMaterial,
): AppraisedTurn => ({ evidence, appraisal: appraise(evidence), generation, material });

async function decodeOnce(cached: SessionEvidence, view: TurnView): Promise<DecodedTurn | undefined> {
  const { decoded } = cached;
  if (decoded.has(view.id)) return decoded.get(view.id);
  const turn = await cached.decode(view);
  decoded.set(view.id, turn);
  const [oldest] = decoded.keys();
  if (decoded.size > MOST_DECODED && oldest !== undefined) decoded.delete(oldest);
  // Requests of one session share most of their blocks: the longest one stands for all of them.
  if (turn !== undefined) cached.characters = Math.max(cached.characters, requestCharacters(turn.request));
  return turn;
}
