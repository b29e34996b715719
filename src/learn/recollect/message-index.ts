import type { Records } from '../../core/store.ts';
import { rarity } from '../../lessons/recall/bm25-index.ts';
import { createInt8Vectors, type Int8Vectors } from '../../lessons/recall/int8-vectors.ts';
import { type PassageModel, unpackCodes, unpackVectors } from './encode-message.ts';
import type { TimeSpan } from './named-days.ts';

/** A message that may answer a query. */
export interface IndexHit {
  readonly turn: string;
  /** BM25, as a share of what a message with all words of the query could have at most. */
  readonly words: number;
  /** How near its nearest passage is in meaning: a cosine; 0 without vectors. */
  readonly meaning: number;
  /** The number of that passage in the message. */
  readonly passage: number;
}

export interface IndexAnswer {
  /** The best by words and the best by meaning. */
  readonly hits: readonly IndexHit[];
  /** The newest messages that ask to forget something. */
  readonly forgets: readonly string[];
  /** How much a query's word says: 1 for one that no message has, less for common ones. */
  weightOf(code: number): number;
  /** How many of the asker's messages have it themselves. */
  countOf(code: number): number;
}

export interface IndexQuery {
  readonly codes: Uint32Array;
  /** Absent: only words are compared. */
  readonly vector?: Float32Array | undefined;
  /** Messages of these times are among the hits, too, however little they fit. */
  readonly spans?: readonly MessageSpan[];
}

type MessageSpan = Pick<TimeSpan, 'from' | 'to'>;

/** The words and vectors of all indexed messages, in memory: loaded when the first query comes, and brought up to date by each. */
export interface MessageIndex {
  /** Of so many by words and as many by meaning, those that fit best. */
  search(owner: string, query: IndexQuery, most: number): Promise<IndexAnswer>;
  /** A message that was erased: nothing of it is left in memory. */
  drop(owner: string, turn: string): void;
}

/** How much shared words count beside nearness in meaning: fitted on public questions about earlier conversations (lab/results/memory.md). */
const COVER_WEIGHT = 0.6;

/** How well a message answers a question: nearness in meaning, and shared words, weighed by how rare they are. */
export const fitOf = ({ meaning }: Pick<IndexHit, 'meaning'>, cover: number): number =>
  meaning + COVER_WEIGHT * cover;

/** The usual parameters of BM25. */
const K1 = 1.2;
const B = 0.75;
const PAGE = 2000;
/** Few messages cannot tell rare words from common ones: the collection is treated as at least this large. */
const FEWEST = 64;
/** Of a question: more words make a search slower, and say little. */
const MOST_WORDS = 12;
/** Places of messages that are read for one question. */
const MOST_READ = 200_000;
/** What is farther away is about something else. */
const LEAST_COSINE = 0.1;
/** Passages with a vector; those of older messages are found by their words. 20 MB. */
const MOST_VECTORS = 50_000;
/** Requests to forget something that each search heeds, the newest. */
const MOST_FORGETS = 20;

/** By code: the places of the messages that have the word, once for each time that they say it. */
type Postings = Map<number, number[]>;

/** The messages of one owner. */
interface OwnedMessages {
  readonly turns: string[];
  /** When each was said. */
  readonly times: number[];
  /** Those that ask to forget something. */
  readonly forgets: string[];
  readonly lengths: number[];
  readonly postings: Postings;
  /** The same for the words that they answer. */
  readonly around: Postings;
  /** By code: how many messages have it, themselves or around them. */
  readonly counts: Map<number, number>;
  /** Passages with a vector, oldest first. */
  passages: OwnedPassage[];
  totalLength: number;
}

interface OwnedPassage {
  /** Its row among the vectors, and the number of the vector, which tells whether the row has another one by now. */
  readonly nth: number;
  readonly place: number;
  readonly passage: number;
}

interface Vectors {
  readonly rows: Int8Vectors;
  readonly engine: string;
  /** How many there were; the row of a vector is its number modulo `MOST_VECTORS`. */
  count: number;
}

export function createMessageIndex(
  records: Pick<Records, 'factsOf'>,
  model?: Pick<PassageModel, 'id' | 'dimensions'>,
): MessageIndex {
  const owners = new Map<string, OwnedMessages>();
  const vectors = model && { rows: createInt8Vectors(model.dimensions), engine: model.id, count: 0 };
  let last = 0;
  let loading: Promise<void> = Promise.resolve();
  const load = async (): Promise<void> => {
    for (;;) {
      const page = await records.factsOf('message-indexed', last, PAGE);
      for (const { seq, at, fact } of page) {
        last = seq;
        if (fact.type !== 'message-indexed' || fact.words === '') continue;
        const own = owners.get(fact.owner) ?? newOwner(owners, fact.owner);
        const place = addMessage(own, fact.turn, unpackCodes(fact.words));
        own.times.push(fact.said ?? at);
        if (fact.isForget === true) own.forgets.push(fact.turn);
        addWords(own, own.around, unpackCodes(fact.around ?? ''), place);
        if (vectors !== undefined && fact.engine === vectors.engine && fact.vectors !== undefined)
          addPassages(own, place, fact.vectors, vectors);
      }
      if (page.length < PAGE) return;
    }
  };
  return {
    search: async (owner, { codes, vector, spans = [] }, most) => {
      loading = loading.catch(() => undefined).then(load);
      await loading;
      const own = owners.get(owner);
      if (own === undefined) return { hits: [], forgets: [], weightOf: () => 1, countOf: () => 0 };
      const byWords = scoreWords(own, codes);
      const byMeaning =
        vectors && vector ? scoreMeaning(own, vector, vectors) : new Map<number, NearPassage>();
      return {
        hits: joinHits(own, { byWords, byMeaning, spans }, most),
        forgets: own.forgets.slice(-MOST_FORGETS),
        weightOf: (code) => weightIn(own, code),
        countOf: (code) => countMessages(own.postings.get(code) ?? []),
      };
    },
    drop: (owner, turn) => {
      const own = owners.get(owner);
      const place = own?.turns.indexOf(turn) ?? -1;
      if (own !== undefined && place >= 0) dropMessage(own, place, vectors);
    },
  };
}

function newOwner(owners: Map<string, OwnedMessages>, owner: string): OwnedMessages {
  const own: OwnedMessages = {
    turns: [],
    times: [],
    forgets: [],
    lengths: [],
    postings: new Map(),
    around: new Map(),
    counts: new Map(),
    passages: [],
    totalLength: 0,
  };
  owners.set(owner, own);
  return own;
}

function addMessage(own: OwnedMessages, turn: string, codes: Uint32Array): number {
  const place = own.turns.push(turn) - 1;
  own.lengths.push(codes.length);
  own.totalLength += codes.length;
  addWords(own, own.postings, codes, place);
  return place;
}

/** Its place stays empty: the others keep theirs. */
function dropMessage(own: OwnedMessages, place: number, vectors: Vectors | undefined): void {
  own.turns[place] = '';
  own.times[place] = Number.NaN;
  own.totalLength -= own.lengths[place] ?? 0;
  own.lengths[place] = 0;
  for (const postings of [own.postings, own.around])
    for (const [code, places] of postings) {
      const left = places.filter((one) => one !== place);
      if (left.length === places.length) continue;
      postings.set(code, left);
      own.counts.set(code, Math.max(0, (own.counts.get(code) ?? 0) - 1));
    }
  const isGone = (one: OwnedPassage): boolean => one.place === place;
  const empty = vectors && new Float32Array(vectors.rows.dimensions);
  for (const { nth } of own.passages.filter(isGone))
    if (vectors !== undefined && empty !== undefined && nth >= vectors.count - MOST_VECTORS)
      vectors.rows.set(nth % MOST_VECTORS, empty);
  own.passages = own.passages.filter((one) => !isGone(one));
}

function addWords(own: OwnedMessages, postings: Postings, codes: Uint32Array, place: number): void {
  for (const code of codes) {
    const isKnown = [own.postings, own.around].some((each) => each.get(code)?.at(-1) === place);
    if (!isKnown) own.counts.set(code, (own.counts.get(code) ?? 0) + 1);
    const places = postings.get(code);
    if (places === undefined) postings.set(code, [place]);
    else places.push(place);
  }
}

/** A place stands there once for each time that its message says the word. */
const countMessages = (places: readonly number[]): number =>
  places.reduce((count, place, nth) => count + Number(place !== places[nth - 1]), 0);

function addPassages(own: OwnedMessages, place: number, packed: string, vectors: Vectors): void {
  for (const [passage, vector] of unpackVectors(packed, vectors.rows.dimensions).entries()) {
    const nth = vectors.count++;
    vectors.rows.set(nth % MOST_VECTORS, vector);
    own.passages.push({ nth, place, passage });
  }
}

function weightIn({ turns, counts }: OwnedMessages, code: number): number {
  const size = Math.max(turns.length, FEWEST);
  return rarity(size, counts.get(code) ?? 0) / rarity(size, 0);
}

/** The rarest words of a question: common ones decide nothing, and are in most messages. */
function tellingWords(own: OwnedMessages, codes: Uint32Array): readonly (readonly [number, number])[] {
  return Array.from(new Set(codes), (code) => [code, weightIn(own, code)] as const)
    .sort(([, one], [, other]) => other - one)
    .slice(0, MOST_WORDS);
}

/** By place: BM25, as a share of what there could be at most. */
function scoreWords(own: OwnedMessages, codes: Uint32Array): Float32Array {
  const { turns, lengths, postings, around } = own;
  const mean = own.totalLength / turns.length;
  const scores = new Float32Array(turns.length);
  const words = tellingWords(own, codes);
  const most = words.reduce((sum, [, weight]) => sum + weight * (K1 + 1), 0) || 1;
  let read = 0;
  const lists = words.flatMap(([code, weight]) => [
    { places: postings.get(code) ?? [], weight },
    { places: around.get(code) ?? [], weight },
  ]);
  for (const { places, weight } of lists) {
    read += places.length;
    // The rarer words have been counted; the others are in too many messages to say much.
    if (read > MOST_READ && read > places.length) break;
    for (let nth = 0; nth < places.length; ) {
      const place = places[nth] ?? 0;
      const from = nth;
      while (places[nth] === place) nth++;
      const count = nth - from;
      const long = K1 * (1 - B + (B * (lengths[place] ?? 0)) / mean);
      scores[place] = (scores[place] ?? 0) + (weight * count * (K1 + 1)) / (count + long) / most;
    }
  }
  return scores;
}

interface NearPassage {
  readonly cosine: number;
  readonly passage: number;
}

/** By the place of a message: its nearest passage. */
function scoreMeaning(
  own: OwnedMessages,
  vector: Float32Array,
  { rows, count }: Vectors,
): ReadonlyMap<number, NearPassage> {
  const oldest = count - MOST_VECTORS;
  if ((own.passages[0]?.nth ?? 0) < oldest) own.passages = own.passages.filter(({ nth }) => nth >= oldest);
  const cosines = new Float32Array(rows.length);
  const query = rows.query(vector);
  // One call for all rows is faster than a call for each, unless most are somebody else's.
  if (2 * own.passages.length > rows.length) rows.score(query, 0, rows.length, cosines);
  else rows.scoreEach(query, rowsOf(own), cosines);
  const nearest = new Map<number, NearPassage>();
  for (const { nth, place, passage } of own.passages) {
    const cosine = cosines[nth % MOST_VECTORS] ?? 0;
    if (cosine > LEAST_COSINE && cosine > (nearest.get(place)?.cosine ?? 0))
      nearest.set(place, { cosine, passage });
  }
  return nearest;
}

function* rowsOf({ passages }: OwnedMessages): Iterable<number> {
  for (const { nth } of passages) yield nth % MOST_VECTORS;
}

interface PlaceScores {
  readonly byWords: Float32Array;
  readonly byMeaning: ReadonlyMap<number, NearPassage>;
  readonly spans: readonly MessageSpan[];
}

function joinHits(
  { turns, times }: OwnedMessages,
  { byWords, byMeaning, spans }: PlaceScores,
  most: number,
): readonly IndexHit[] {
  const near = [...byMeaning];
  const nearest = best(near.length, (nth) => near[nth]?.[1].cosine ?? 0, most);
  const places = new Set([
    ...best(byWords.length, (place) => byWords[place] ?? 0, most),
    ...nearest.map((nth) => near[nth]?.[0] ?? 0),
  ]);
  const hitOf = (place: number): IndexHit => {
    const { cosine = 0, passage = 0 } = byMeaning.get(place) ?? {};
    return { turn: turns[place] ?? '', words: byWords[place] ?? 0, meaning: cosine, passage };
  };
  const score = (hit: IndexHit): number => fitOf(hit, hit.words);
  const fitting = [...places]
    .toSorted((one, other) => score(hitOf(other)) - score(hitOf(one)))
    .slice(0, most);
  const isThen = (place: number): boolean =>
    spans.some(({ from, to }) => (times[place] ?? 0) >= from && (times[place] ?? 0) < to);
  const then =
    spans.length === 0
      ? []
      : best(turns.length, (place) => (isThen(place) ? ANY_FIT + score(hitOf(place)) : 0), most);
  return [...new Set([...fitting, ...then])].map(hitOf);
}

/** Of messages that fit not at all, the newest are the best. */
const ANY_FIT = 1;

/** The highest positive scores, by their number; of equally good ones the newer, which has the higher number. */
function best(count: number, scoreOf: (nth: number) => number, most: number): readonly number[] {
  const isBefore = (one: number, other: number): number => scoreOf(other) - scoreOf(one) || other - one;
  let top: number[] = [];
  let least = 0;
  for (let nth = 0; nth < count; nth++) {
    const score = scoreOf(nth);
    if (score <= 0 || score < least) continue;
    top.push(nth);
    if (top.length < 8 * most) continue;
    top = top.sort(isBefore).slice(0, most);
    least = scoreOf(top.at(-1) ?? 0);
  }
  return top.sort(isBefore).slice(0, most);
}
