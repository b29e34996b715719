import type { Appraisal, TurnEvidence } from '../core/evidence.ts';
import type { TurnMaterial } from '../core/learn.ts';
import type { DecodedTurn, Records, RewardView, TurnView } from '../core/store.ts';
import { appraise } from './appraise.ts';
import { readEpisodeEvidence } from './episode.ts';
import { isLearnedFrom } from './learned-from.ts';
import { EDIT_FAILED } from './signals/tool-signals.ts';
import { toSpokenTurn } from './spoken-turn.ts';
import { type ConversationTail, conversationTail, tailCharacters } from './trajectory.ts';
import { createTurnEvidence, evidenceCharacters, messagesAfter, requestCharacters } from './turn-evidence.ts';
import {
  createSessionTexts,
  materialCharacters,
  readMaterial,
  readReportedMaterial,
  type SessionTexts,
} from './turn-material.ts';

/** The part of the record that evidence is read from. */
export interface EvidenceRecords extends Pick<Records, 'session' | 'turns' | 'rewards' | 'events'> {
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
  /** For turns that are learned from (failures and successes), and for the last one. */
  readonly material?: TurnMaterial;
  /** For the same turns, when they were recorded as requests. */
  readonly conversation?: ConversationTail;
  /** Ids of the lessons that the turn was shown. */
  readonly shown?: readonly string[];
}

/**
 * The turns of sessions with their appraisals, oldest first. A turn is decoded and appraised once, and again only when its
 * evidence has changed: a reward or the next request arrived. Rejects with `StoreError`.
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

interface KnownSession {
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
  /** The least recently used first. */
  const sessions = new Map<string, KnownSession>();
  const open = (session: string): KnownSession => {
    const known = sessions.get(session) ?? {
      decode: records.decoder(),
      decoded: new Map(),
      texts: createSessionTexts(),
      views: [],
      turns: new Map(),
      characters: 0,
    };
    sessions.delete(session);
    sessions.set(session, known);
    return known;
  };
  /** A session that is longer than the limit is not kept at all. */
  const evict = (): void => {
    let total = 0;
    for (const { characters } of sessions.values()) total += characters;
    for (const [session, { characters }] of sessions) {
      if (sessions.size <= MOST_SESSIONS && total <= mostCharacters) return;
      sessions.delete(session);
      total -= characters;
    }
  };

  const read = async (
    session: string,
    views: readonly TurnView[],
    wanted: ReadonlySet<string> | undefined,
  ): Promise<readonly AppraisedTurn[]> => {
    const known = open(session);
    const wholeSession = await records.rewards({ session });
    const isRated = wanted !== undefined || (await records.rewards({ turnsOf: session })).length > 0;
    const turns: AppraisedTurn[] = [];
    for (const [index, view] of views.entries()) {
      if (wanted !== undefined && !wanted.has(view.id)) continue;
      const own = isRated ? await records.rewards({ turn: view.id }) : [];
      // A reward for the whole session counts for its last turn.
      const given = index === views.length - 1 ? [...own, ...wholeSession] : own;
      const before = known.turns.get(view.id);
      const reached = views.slice(index + 2, index + 1 + LOOK_AHEAD).at(-1);
      const appraiseWith = async (later: TurnView | undefined) => {
        const version = versionOf(view, views[index + 1], given, later);
        if (before?.version === version) return before;
        const turn = await appraiseTurn(session, known, views, index, given, later);
        return turn && { version, turn };
      };
      const first = await appraiseWith(isOpen(before?.turn) ? reached : undefined);
      // Whether it is open shows only now: what followed is read at once, as it would be the next time.
      const isNewlyOpen =
        first !== before && reached !== undefined && !isOpen(before?.turn) && isOpen(first?.turn);
      const read = isNewlyOpen ? await appraiseWith(reached) : first;
      if (read === undefined) continue;
      const { turn } = read;
      if (turn !== before?.turn) {
        known.turns.set(view.id, read);
        known.characters += turnCharacters(turn) - turnCharacters(before?.turn);
      }
      turns.push(turn);
    }
    evict();
    return turns;
  };

  const turnsOf = async (
    session: string,
    views: readonly TurnView[],
    wanted: ReadonlySet<string> | undefined,
  ): Promise<readonly AppraisedTurn[]> => {
    const ended = views.filter(({ status }) => status !== undefined);
    const turns = ended.length === 0 ? [] : await read(session, ended, wanted);
    if (turns.length > 0) return turns;
    const reported = await readEpisodeEvidence(session, records);
    if (reported === undefined) return [];
    const { evidence } = reported;
    return [createAppraisedTurn(evidence, NO_GENERATION, () => readReportedMaterial(evidence))];
  };
  /** Only what is new since the last time is read. */
  const allTurns = async (session: string): Promise<readonly TurnView[]> => {
    const view = await records.session(session);
    if (view === undefined || view.erased) {
      sessions.delete(session);
      return records.turns(session);
    }
    const before = open(session).views;
    const last = before.at(-1);
    const limit = Math.max(0, view.turns - before.length) + 1;
    const fresh = last === undefined ? [] : await records.turns(session, { limit, fromEnd: true });
    // The last known one must be the first of the fresh ones, and unchanged: otherwise another turn began between the two reads, or
    // the session was erased and has begun again.
    const isSame = last !== undefined && fresh[0]?.id === last.id && fresh[0].request === last.request;
    if (!isSame) sessions.delete(session);
    const all = isSame ? [...before, ...fresh.slice(1)] : await records.turns(session);
    const known = open(session);
    const unended = all.findIndex(({ status }) => status === undefined);
    const ended = unended < 0 ? all : all.slice(0, unended);
    known.characters += VIEW * (ended.length - known.views.length);
    known.views = ended;
    return all;
  };
  const mainTurns = async (session: string): Promise<readonly TurnView[]> =>
    (await allTurns(session)).filter((view) => view.role === 'main' && isLearnedFrom(view));

  return {
    turns: async (session, wanted) => turnsOf(session, await mainTurns(session), wanted && new Set(wanted)),
    affectedTurns: async (session, changed) => {
      const views = await mainTurns(session);
      const wanted = changed && new Set(changed);
      const known = sessions.get(session)?.turns;
      if (wanted === undefined) return turnsOf(session, views, undefined);
      const affected = new Set(wanted);
      views.forEach(({ id }, index) => {
        if (!wanted.has(id)) return;
        for (let back = 1; back <= LOOK_AHEAD; back++) {
          const before = views[index - back];
          if (before !== undefined && (back === 1 || isOpen(known?.get(before.id)?.turn)))
            affected.add(before.id);
        }
      });
      return turnsOf(session, views, affected);
    },
    forget: (session) => void sessions.delete(session),
  };
}

/** About how many characters are kept for a turn. */
const turnCharacters = (turn: AppraisedTurn | undefined): number =>
  turn === undefined
    ? 0
    : evidenceCharacters(turn.evidence) +
      (turn.material === undefined ? 0 : materialCharacters(turn.material)) +
      (turn.conversation === undefined ? 0 : tailCharacters(turn.conversation));

/** Changes whenever the turn's evidence does. */
const versionOf = (
  { status, failure, request, reply }: TurnView,
  next: TurnView | undefined,
  given: readonly RewardView[],
  later: TurnView | undefined,
): string =>
  JSON.stringify([status, failure, request, reply, next?.id, given.map(({ seq }) => seq), later?.id]);

/** The next turns may correct the edit that failed in this one. */
const isOpen = (turn: AppraisedTurn | undefined): boolean =>
  turn?.appraisal.signals.some(({ name }) => name === EDIT_FAILED) ||
  turn?.evidence.next?.isCorrected === true;

async function appraiseTurn(
  session: string,
  known: KnownSession,
  views: readonly TurnView[],
  index: number,
  given: readonly RewardView[],
  later: TurnView | undefined,
): Promise<AppraisedTurn | undefined> {
  const view = views[index];
  const recorded = view && (await decodeOnce(known, view));
  if (recorded === undefined) return undefined;
  const turn = toSpokenTurn(recorded);
  let after: DecodedTurn | undefined;
  for (let next = index + 1; after === undefined && next < views.length; next++) {
    const following = views[next];
    const found = following && (await decodeOnce(known, following));
    after = found && toSpokenTurn(found);
  }
  const latest = later && (await decodeOnce(known, later));
  const evidence = createTurnEvidence(session, turn, after, given, latest && toSpokenTurn(latest));
  const { reply } = turn;
  // An answer may rest on anything in its request.
  const { request } = recorded;
  const followed = messagesAfter(turn, after);
  const appraised = createAppraisedTurn(evidence, turn.view.generation, () =>
    readMaterial({ request, reply, followed, given: evidence.given, caller: turn.view.caller }, known.texts),
  );
  const { lessons } = turn.view;
  return {
    ...appraised,
    ...(appraised.material === undefined
      ? {}
      : { conversation: conversationTail(turn.request.messages, reply, followed) }),
    ...(lessons.length === 0 ? {} : { shown: lessons }),
  };
}

/** The only place where turns are appraised. */
function createAppraisedTurn(
  evidence: TurnEvidence,
  generation: number,
  read: () => TurnMaterial,
  isLast = true,
): AppraisedTurn {
  const appraisal = appraise(evidence);
  const isLearned = appraisal.verdict === 'failure' || appraisal.verdict === 'success';
  return { evidence, appraisal, generation, ...(isLearned || isLast ? { material: read() } : {}) };
}

async function decodeOnce(known: KnownSession, view: TurnView): Promise<DecodedTurn | undefined> {
  const { decoded } = known;
  if (decoded.has(view.id)) return decoded.get(view.id);
  const turn = await known.decode(view);
  decoded.set(view.id, turn);
  const [oldest] = decoded.keys();
  if (decoded.size > MOST_DECODED && oldest !== undefined) decoded.delete(oldest);
  // Requests of one session share most of their blocks: the longest one stands for all of them.
  if (turn !== undefined) known.characters = Math.max(known.characters, requestCharacters(turn.request));
  return turn;
}
