import { isUnattributed } from '../../core/principal.ts';
import type { Recollect, Recollection } from '../../core/recollection.ts';
import type { DecodedTurn, Records, TurnView } from '../../core/store.ts';
import { taskOf } from '../../evidence/turn-evidence.ts';
import { readOwnWords } from '../../reader/own-sentences.ts';
import { hasMark } from '../../redact/scan-context.ts';
import { estimateTokens } from '../../text/estimate-tokens.ts';
import { readClaim } from '../memory/write/claim.ts';
import { type ForgetRequest, isForgotten, readForgetRequests } from '../memory/write/compare-claims.ts';
import { createMessageIndex, type IndexAnswer } from './message-index.ts';
import { readNamedTimes } from './named-days.ts';
import { ownerOf, wordCodes } from './word-codes.ts';

interface RecollectOptions {
  readonly records: Pick<Records, 'factsOf' | 'turn'>;
  /** Decodes a turn; undefined where it was erased. */
  readonly decode: (view: TurnView) => Promise<DecodedTurn | undefined>;
  readonly hasSecret: (text: string) => boolean;
}

/** Messages whose text is read for one query. */
const MOST_CANDIDATES = 16;
const MOST_PASSAGES = 8;
const MOST_TOKENS = 900;
/** Characters of one message. Most messages are shorter: what is near the answer often says what it is about. */
const LONGEST_PASSAGE = 600;
/** How much of what a question names a passage must have. Measured on public questions about earlier conversations, and on coding chats. */
const LEAST_COVER = 0.25;
/** Below this share of the best one's score a passage is about something else. */
const LEAST_SHARE = 0.3;

/** Words of a message that fit a query. */
interface Passage extends Omit<Recollection, 'times'> {
  readonly score: number;
  readonly sentences: readonly string[];
}

/**
 * Searches what the asker said in earlier sessions: by words in an index in memory, then by the sentences of the best messages, which are
 * read from the record. What was asked to be forgotten later is left out, and so are these requests.
 */
export function createRecollect({ records, decode, hasSecret }: RecollectOptions): Recollect {
  const index = createMessageIndex(records);
  return async (query) => {
    if (isUnattributed(query.session, query)) return [];
    const codes = wordCodes(query.text);
    if (codes.length === 0) return [];
    const answer = await index.search(ownerOf(query), codes, MOST_CANDIDATES);
    const wanted = weighWords(codes, answer);
    const passages: Passage[] = [];
    const requests: { readonly at: number; readonly request: ForgetRequest }[] = [];
    for (const hit of answer.hits) {
      const view = await records.turn(hit.turn);
      if (view === undefined || view.session === query.session) continue;
      const turn = await decode(view);
      if (turn === undefined) continue;
      const sentences = readOwnWords(taskOf(turn.request.messages));
      const at = view.startedAt;
      const asked = sentences.flatMap(readForgetRequests);
      requests.push(...asked.map((request) => ({ at, request })));
      const passage = asked.length > 0 ? undefined : cutPassage(sentences, wanted);
      if (passage === undefined || hasMark(passage.text) || hasSecret(passage.text)) continue;
      const { session, id } = view;
      passages.push({ session, turn: id, at, ...passage, score: hit.score * (1 + passage.cover) });
    }
    const isTakenBack = ({ at, sentences }: Passage): boolean =>
      requests.some((one) => one.at > at && sentences.some((s) => isForgotten(one.request, readClaim(s))));
    return choosePassages(passages.filter((passage) => !isTakenBack(passage)));
  };
}

type WantedWords = ReadonlyMap<number, number>;

function weighWords(codes: Uint32Array, { weightOf }: IndexAnswer): WantedWords {
  return new Map(Array.from(new Set(codes), (code) => [code, weightOf(code)]));
}

/** The part of a message around its best sentence; undefined where it has too little of what is wanted. */
function cutPassage(
  sentences: readonly string[],
  wanted: WantedWords,
): (Pick<Passage, 'text' | 'sentences'> & { readonly cover: number }) | undefined {
  const codes = sentences.map((sentence) => new Set(wordCodes(sentence)));
  const gains = codes.map((own) => sumOf(wanted, (code) => own.has(code)));
  const best = gains.indexOf(Math.max(...gains));
  if (best < 0) return undefined;
  let [from, to] = [best, best + 1];
  let room = LONGEST_PASSAGE - (sentences[best]?.length ?? 0);
  const fits = (nth: number): boolean => nth >= 0 && (sentences[nth]?.length ?? Infinity) <= room;
  while (fits(from - 1) || fits(to)) {
    const isNext = fits(to) && (!fits(from - 1) || (gains[to] ?? 0) >= (gains[from - 1] ?? 0));
    room -= sentences[isNext ? to : from - 1]?.length ?? 0;
    if (isNext) to++;
    else from--;
  }
  const inside = codes.slice(from, to);
  const covered = sumOf(wanted, (code) => inside.some((own) => own.has(code)));
  const cover =
    covered /
    Math.max(
      sumOf(wanted, () => true),
      Number.EPSILON,
    );
  if (cover < LEAST_COVER) return undefined;
  const chosen = sentences.slice(from, to);
  const text = `${from > 0 ? '… ' : ''}${chosen.join(' ')}${to < sentences.length ? ' …' : ''}`;
  return { text, sentences: chosen, cover };
}

const sumOf = (wanted: WantedWords, isCounted: (code: number) => boolean): number =>
  [...wanted].reduce((sum, [code, weight]) => (isCounted(code) ? sum + weight : sum), 0);

/** The best ones that have room, without repetitions, oldest first: where two differ, the later one holds. */
function choosePassages(passages: readonly Passage[]): readonly Recollection[] {
  const ranked = passages.toSorted((one, other) => other.score - one.score || other.at - one.at);
  const least = (ranked[0]?.score ?? 0) * LEAST_SHARE;
  const texts = new Set<string>();
  let room = MOST_TOKENS;
  const chosen: Passage[] = [];
  for (const passage of ranked) {
    const tokens = estimateTokens(passage.text);
    if (chosen.length === MOST_PASSAGES || passage.score < least) break;
    if (texts.has(passage.text) || tokens > room) continue;
    texts.add(passage.text);
    room -= tokens;
    chosen.push(passage);
  }
  return chosen
    .toSorted((one, other) => one.at - other.at)
    .map(({ session, turn, at, text }) => ({ session, turn, at, text, times: readNamedTimes(text, at) }));
}
