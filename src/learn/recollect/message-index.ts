import type { Records } from '../../core/store.ts';
import { unpackCodes } from './word-codes.ts';

/** A message that shares words with a query. */
export interface IndexHit {
  readonly turn: string;
  /** BM25. */
  readonly score: number;
}

export interface IndexAnswer {
  /** The best first. */
  readonly hits: readonly IndexHit[];
  /** How much a query's word says: 1 for one that no message has, less for common ones. */
  weightOf(code: number): number;
}

/** The words of all indexed messages, in memory: loaded when the first query comes, and brought up to date by each. */
export interface MessageIndex {
  search(owner: string, codes: Uint32Array, most: number): Promise<IndexAnswer>;
  size(): number;
}

/** The usual parameters of BM25. */
const K1 = 1.2;
const B = 0.75;
const PAGE = 2000;
/** Few messages cannot tell rare words from common ones: the collection is treated as at least this large. */
const FEWEST = 64;

/** The messages of one owner. */
interface OwnedMessages {
  readonly turns: string[];
  readonly lengths: number[];
  /** By code: the places of the messages that have the word, and how often each has it. */
  readonly postings: Map<number, Postings>;
  totalLength: number;
}

interface Postings {
  readonly places: number[];
  readonly counts: number[];
}

export function createMessageIndex(records: Pick<Records, 'factsOf'>): MessageIndex {
  const owners = new Map<string, OwnedMessages>();
  let last = 0;
  let size = 0;
  let loading: Promise<void> = Promise.resolve();
  const load = async (): Promise<void> => {
    for (;;) {
      const page = await records.factsOf('message-indexed', last, PAGE);
      for (const { seq, fact } of page) {
        last = seq;
        if (fact.type !== 'message-indexed' || fact.words === '') continue;
        const own = owners.get(fact.owner) ?? newOwner(owners, fact.owner);
        addMessage(own, fact.turn, unpackCodes(fact.words));
        size++;
      }
      if (page.length < PAGE) return;
    }
  };
  return {
    size: () => size,
    search: async (owner, codes, most) => {
      loading = loading.catch(() => undefined).then(load);
      await loading;
      const own = owners.get(owner);
      return own === undefined
        ? { hits: [], weightOf: () => 1 }
        : { hits: bestMessages(own, codes, most), weightOf: (code) => weightIn(own, code) };
    },
  };
}

function newOwner(owners: Map<string, OwnedMessages>, owner: string): OwnedMessages {
  const own: OwnedMessages = { turns: [], lengths: [], postings: new Map(), totalLength: 0 };
  owners.set(owner, own);
  return own;
}

function addMessage(own: OwnedMessages, turn: string, codes: Uint32Array): void {
  const place = own.turns.push(turn) - 1;
  own.lengths.push(codes.length);
  own.totalLength += codes.length;
  for (const code of codes) {
    const postings = own.postings.get(code) ?? { places: [], counts: [] };
    own.postings.set(code, postings);
    const end = postings.places.length - 1;
    if (postings.places[end] === place) postings.counts[end] = (postings.counts[end] ?? 0) + 1;
    else {
      postings.places.push(place);
      postings.counts.push(1);
    }
  }
}

const rarity = (size: number, count: number): number => Math.log(1 + (size - count + 0.5) / (count + 0.5));

function weightIn({ turns, postings }: OwnedMessages, code: number): number {
  const size = Math.max(turns.length, FEWEST);
  return rarity(size, postings.get(code)?.places.length ?? 0) / rarity(size, 0);
}

function bestMessages(own: OwnedMessages, codes: Uint32Array, most: number): readonly IndexHit[] {
  const { turns, lengths, postings } = own;
  const mean = own.totalLength / turns.length;
  const scores = new Map<number, number>();
  for (const code of new Set(codes)) {
    const { places = [], counts = [] } = postings.get(code) ?? {};
    const weight = weightIn(own, code);
    for (let nth = 0; nth < places.length; nth++) {
      const place = places[nth] ?? 0;
      const count = counts[nth] ?? 0;
      const long = K1 * (1 - B + (B * (lengths[place] ?? 0)) / mean);
      scores.set(place, (scores.get(place) ?? 0) + (weight * count * (K1 + 1)) / (count + long));
    }
  }
  // Of equally good ones the newer.
  return [...scores]
    .sort(([place, score], [other, otherScore]) => otherScore - score || other - place)
    .slice(0, most)
    .map(([place, score]) => ({ turn: turns[place] ?? '', score }));
}
