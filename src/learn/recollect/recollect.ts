import { within } from '../../base/within.ts';
import type { Clock } from '../../core/clock.ts';
import { isUnattributed } from '../../core/principal.ts';
import type { Recollect, Recollection } from '../../core/recollection.ts';
import type { DecodedTurn, Records, TurnView } from '../../core/store.ts';
import { taskOf } from '../../evidence/turn-evidence.ts';
import { relevanceOf } from '../../lessons/recall/relevance.ts';
import { readOwnWords } from '../../reader/own-sentences.ts';
import { hasMark } from '../../redact/scan-context.ts';
import { endsAsQuestion } from '../../text/looks-back.ts';
import { readClaim } from '../memory/write/claim.ts';
import { type ForgetRequest, isForgotten, readForgetRequests } from '../memory/write/forget-requests.ts';
import { type AskedTimes, isAboutAnything, readAsked } from './asked-times.ts';
import {
  codesAround,
  codesPointedTo,
  ownerOf,
  type PassageModel,
  passagesOf,
  wordCodes,
} from './encode-message.ts';
import {
  createMessageIndex,
  fitOf,
  type IndexAnswer,
  type IndexHit,
  type IndexQuery,
  type MessageIndex,
} from './message-index.ts';
import { readNamedTimes, readTimeSpans } from './named-days.ts';
import { isAboutOne, namesAskedAbout, speaksToOne } from './named-others.ts';

interface RecollectOptions {
  readonly records: Pick<Records, 'factsOf' | 'turn'>;
  /** Decodes a turn; undefined where it was erased. */
  readonly decode: (view: TurnView) => Promise<DecodedTurn | undefined>;
  readonly hasSecret: (text: string) => boolean;
  readonly clock: Pick<Clock, 'now'>;
  /** Absent, late or broken: messages are found by their words alone. */
  readonly model?: PassageModel;
  /** How long a question waits for its vector; absent: what a request can wait. */
  readonly vectorMs?: number;
}

/** Messages whose text is read for one query. */
const MOST_CANDIDATES = 20;
/** Characters of one message. Most messages are shorter: what is near the answer often says what it is about. */
const LONGEST_PASSAGE = 600;
/** The question is served in time: its vector may come too late, since the model serves others, too. */
const VECTOR_MS = 150;

/** Words of a message that fit a query. */
interface Passage extends Omit<Recollection, 'times' | 'relevance'> {
  readonly fit: number;
  readonly sentences: readonly string[];
  /** It names somebody that the question is about, or the question names nobody. */
  readonly isAbout: boolean;
  /** It points back to what its author had said before it, and has few words of its own. */
  readonly isPointing: boolean;
  /** It was said at a time that the question names, or names such a time itself. */
  readonly isThen: boolean;
}

/**
 * Searches what the asker said in earlier sessions: by words and by meaning in an index in memory, then by the sentences of the best
 * messages, which are read from the record. What was asked to be forgotten later is left out, and so are these requests.
 */
export function createRecollect(options: RecollectOptions): Recollect {
  const { records, decode, hasSecret, model } = options;
  const index = createMessageIndex(records, model);
  return async (query) => {
    if (isUnattributed(query.session, query)) return [];
    const asked = readAsked(query.text, options.clock.now());
    const codes = wordCodes(asked.text);
    if (codes.length === 0 && asked.spans.length === 0) return [];
    const vector = codes.length === 0 ? undefined : await vectorOf(asked.text, options);
    const owner = ownerOf(query);
    const looked = { codes, vector, spans: asked.spans };
    const { answer, found } = await searchKept({ index, owner, records }, looked);
    const wanted = weighWords(codes, answer);
    const names = namesAskedAbout(query.text);
    const others = names.filter((name) => isWellKnown(name, answer));
    let [isOwnName, isPerson] = [false, false];
    const passages: Passage[] = [];
    const requests = await readForgets(answer.forgets, options);
    for (const { hit, view } of found) {
      const turn = view.session === query.session ? undefined : await decode(view);
      if (turn === undefined) continue;
      const sentences = readOwnWords(taskOf(turn.request.messages));
      const at = view.startedAt;
      const taken = sentences.flatMap(readForgetRequests);
      requests.push(...taken.map((request) => ({ at, request })));
      if (taken.length > 0) continue;
      if (others.length > 0) {
        isOwnName ||= spokenTo(turn).some((text) => speaksToOne(names, text));
        isPerson ||= speaksToOne(others, sentences.join('\n'));
      }
      const pointed = codesPointedTo(sentences, saidBefore(turn));
      const around = [...(query.project === undefined ? codesBefore(turn) : []), ...pointed];
      const passage = cutPassage({ sentences, around: new Set(around) }, wanted, hit);
      // What was asked answers nothing.
      if (passage.sentences.every(endsAsQuestion)) continue;
      if (hasMark(passage.text) || hasSecret(passage.text)) continue;
      const { session, id } = view;
      const isAbout = others.length === 0 || isAboutOne(others, sentences.join('\n'));
      const isThen = isOfTime(asked, passage.text, at);
      passages.push({ session, turn: id, at, ...passage, isAbout, isPointing: pointed.length > 0, isThen });
    }
    const isTakenBack = ({ at, sentences }: Passage): boolean =>
      requests.some((one) => one.at > at && sentences.some((s) => isForgotten(one.request, readClaim(s))));
    const kind = query.project === undefined ? 'personal' : 'project';
    const leastFit = Math.max(
      LEAST_FIT[vector === undefined ? 'words' : kind],
      isPerson && !isOwnName ? LEAST_FIT.others : 0,
    );
    const kept = passages.filter((passage) => (passage.isAbout || isOwnName) && !isTakenBack(passage));
    return choosePassages(atAskedTime(kept, asked, leastFit), { leastFit, leastShare: LEAST_SHARE[kind] });
  };
}

interface FoundMessage {
  readonly hit: IndexHit;
  readonly view: TurnView;
}

interface SearchedPlace {
  readonly index: MessageIndex;
  readonly owner: string;
  readonly records: Pick<Records, 'turn'>;
}

/** Erased messages take the places of others until the index has dropped them. */
const MOST_SEARCHES = 4;

async function searchKept(
  { index, owner, records }: SearchedPlace,
  query: IndexQuery,
): Promise<{ readonly answer: IndexAnswer; readonly found: readonly FoundMessage[] }> {
  for (let nth = 1; ; nth++) {
    const answer = await index.search(owner, query, MOST_CANDIDATES);
    const found: FoundMessage[] = [];
    for (const hit of answer.hits) {
      const view = await records.turn(hit.turn);
      // Of an erased turn its times are left.
      if (view?.request === undefined) index.drop(owner, hit.turn);
      else found.push({ hit, view });
    }
    if (found.length === answer.hits.length || nth === MOST_SEARCHES) return { answer, found };
  }
}

interface TimedRequest {
  readonly at: number;
  readonly request: ForgetRequest;
}

/** What was asked to be forgotten, whatever the question is about. */
async function readForgets(
  turns: readonly string[],
  { records, decode }: Pick<RecollectOptions, 'records' | 'decode'>,
): Promise<TimedRequest[]> {
  const requests: TimedRequest[] = [];
  for (const id of turns) {
    const view = await records.turn(id);
    const turn = view && (await decode(view));
    if (view === undefined || turn === undefined) continue;
    const sentences = readOwnWords(taskOf(turn.request.messages));
    const asked = sentences.flatMap(readForgetRequests);
    requests.push(...asked.map((request) => ({ at: view.startedAt, request })));
  }
  return requests;
}

const vectorOf = async (
  text: string,
  { model, vectorMs = VECTOR_MS }: Pick<RecollectOptions, 'model' | 'vectorMs'>,
): Promise<Float32Array | undefined> => {
  const vectors = await within(model?.embed([text]).catch(() => []) ?? Promise.resolve([]), vectorMs);
  return vectors?.[0];
};

const isOfTime = ({ spans }: AskedTimes, text: string, at: number): boolean =>
  spans.length > 0 &&
  [{ from: at, to: at + 1 }, ...readTimeSpans(text, at)].some((time) =>
    spans.some(({ from, to }) => time.from < to && from < time.to),
  );

/** Of two that fit equally, the one of the time that the question names is nearer. */
const THEN_BONUS = 0.15;

/** What was said then, where the question asks for that; else it comes first among what fits. */
function atAskedTime(passages: readonly Passage[], asked: AskedTimes, leastFit: number): readonly Passage[] {
  if (asked.spans.length === 0) return passages;
  const then = passages.filter(({ isThen }) => isThen);
  if (!asked.isForSaid)
    return passages.map((one) =>
      one.isThen && one.fit >= leastFit ? { ...one, fit: one.fit + THEN_BONUS } : one,
    );
  if (!isAboutAnything(asked)) return then.map((one) => ({ ...one, fit: Math.max(one.fit, leastFit) }));
  const fitting = then.filter(({ fit }) => fit >= leastFit);
  return fitting.length > 0 ? fitting : passages;
}

/** A word of the question that stands in what the message answers, beside one that it has itself. */
const AROUND_WEIGHT = 0.8;

/** Below these fits a message is about something else. */
const LEAST_FIT = {
  /** Most questions in a project are about its code, not about what was said. */
  project: 0.45,
  /** Talk with an assistant about anything. */
  personal: 0.25,
  /** Where only words are compared. */
  words: 0.15,
  /** A question about somebody to whom its author speaks: most of what they said is about themselves. */
  others: 0.65,
} as const;
/** Log-odds for each unit of fit. */
const FIT_EVIDENCE = 4;
/** Below these shares of the best one's fit, too: a project has many near messages about one thing, of which the older ones do not hold. */
const LEAST_SHARE = { project: 0.55, personal: 0.4 } as const;

/** Below so many messages that have a name, one without it may still be about them. */
const FEWEST_NAMED = 5;

const isWellKnown = (name: string, { countOf }: IndexAnswer): boolean =>
  wordCodes(name).some((code) => countOf(code) >= FEWEST_NAMED);

/** Messages of an agent, and their beginnings, that are looked through for whom it speaks to. */
const MOST_REPLIES = 40;
const GREETING = 400;

/** What the agent said in a conversation: who it speaks to is its author. */
const spokenTo = ({ request }: DecodedTurn): readonly string[] =>
  request.messages
    .filter(({ role }) => role === 'assistant')
    .slice(-MOST_REPLIES)
    .flatMap(({ content }) =>
      content.flatMap((part) => (part.type === 'text' ? part.text.slice(0, GREETING) : [])),
    );

/** The words of the agent that the newest message answers. */
function codesBefore({ request: { messages } }: DecodedTurn): Iterable<number> {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const answer = messages.slice(0, asked).findLast(({ role }) => role === 'assistant');
  return codesAround(answer?.content ?? []);
}

/** What its author had typed before the newest message. */
function saidBefore({ request: { messages } }: DecodedTurn): string {
  const earlier = messages.slice(
    0,
    messages.findLastIndex(({ role }) => role === 'user'),
  );
  return earlier.some(({ role }) => role === 'user') ? readOwnWords(taskOf(earlier)).join('\n') : '';
}

type WantedWords = ReadonlyMap<number, number>;

function weighWords(codes: Uint32Array, { weightOf }: IndexAnswer): WantedWords {
  return new Map(Array.from(new Set(codes), (code) => [code, weightOf(code)]));
}

/** The part of a message around its best sentence, with how well it fits. */
function cutPassage(
  { sentences, around }: { readonly sentences: readonly string[]; readonly around: ReadonlySet<number> },
  wanted: WantedWords,
  hit: IndexHit,
): Pick<Passage, 'text' | 'sentences' | 'fit'> {
  const all = sumOf(wanted, () => true) || 1;
  const codes = sentences.map((sentence) => new Set(wordCodes(sentence)));
  const near = passagesOf(sentences)[hit.passage] ?? '';
  // Where few words are shared, the passage that is nearest in meaning decides.
  const gains = codes.map((own, nth) => {
    const meaning = near.includes(sentences[nth] ?? '') ? hit.meaning : 0;
    return sumOf(wanted, (code) => own.has(code)) / all + meaning;
  });
  const best = Math.max(0, gains.indexOf(Math.max(...gains)));
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
  const isInside = (code: number): boolean => inside.some((own) => own.has(code));
  const isAround = (code: number): boolean => !isInside(code) && around.has(code);
  const cover = (sumOf(wanted, isInside) + AROUND_WEIGHT * sumOf(wanted, isAround)) / all;
  const chosen = sentences.slice(from, to);
  const text = `${from > 0 ? '… ' : ''}${chosen.join(' ')}${to < sentences.length ? ' …' : ''}`;
  return { text, sentences: chosen, fit: fitOf(hit, cover) };
}

const sumOf = (wanted: WantedWords, isCounted: (code: number) => boolean): number =>
  [...wanted].reduce((sum, [code, weight]) => (isCounted(code) ? sum + weight : sum), 0);

/** Those that fit, the best first, without repetitions. */
function choosePassages(
  passages: readonly Passage[],
  { leastFit, leastShare }: { readonly leastFit: number; readonly leastShare: number },
): readonly Recollection[] {
  const ranked = passages.toSorted((one, other) => other.fit - one.fit || other.at - one.at);
  const least = Math.max(leastFit, (ranked[0]?.fit ?? 0) * leastShare);
  const fitting = new Map<string, Passage>();
  for (const passage of ranked)
    if (passage.fit >= (passage.isPointing ? leastFit : least) && !fitting.has(passage.text))
      fitting.set(passage.text, passage);
  return [...fitting.values()].map(({ session, turn, at, text, fit }) => ({
    session,
    turn,
    at,
    text,
    times: readNamedTimes(text, at),
    relevance: relevanceOf(FIT_EVIDENCE * (fit - leastFit)),
  }));
}
