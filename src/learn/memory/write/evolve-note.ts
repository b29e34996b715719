import type { Lesson } from '../../../core/lesson.ts';
import type { LessonEvent } from '../../../core/library.ts';
import { readClaim, type SentenceClaim } from './claim.ts';

const DAY_MS = 86_400_000;
/** Of one evolution, and of all evolutions of a note: its own words stay what it is found by. */
const MOST_AT_ONCE = 2;
const MOST_IN_ALL = 4;
const LEAST_NEIGHBOURS = 2;
const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}-]*/gu;
const WORD = /^\p{L}[\p{L}\p{N}-]{2,30}$/u;

/** A note on the same thing: the user's sentence, and what it claims. */
export interface NoteNeighbour {
  readonly quote: string;
  readonly claims: readonly SentenceClaim[];
}

/** A note, as far as its neighbours may refine it. */
interface EvolvingNote extends NoteNeighbour {
  readonly lesson: Lesson;
}

/**
 * The words that a note gains as keywords: two of its neighbours or more have them directly beside a word of the note's own, and it has
 * not. "Orsted pays in DKK" is found as the
 * client's note once two other sentences have called Orsted a client. Names and values are never taken over, since they are what
 * tells notes apart; the quoted sentence never changes.
 */
export function evolvedKeywords(
  { lesson, quote, claims }: EvolvingNote,
  neighbours: readonly NoteNeighbour[],
): readonly string[] {
  const { keywords } = lesson.text.note;
  const own = new Set([...termsOf(quote), ...claims.flatMap(({ wanted }) => [...wanted])]);
  const gained = keywords.filter((word) => !hasTerm(own, word)).length;
  const room = Math.min(MOST_AT_ONCE, MOST_IN_ALL - gained);
  const known = new Set([...own, ...keywords.flatMap((word) => [...termsOf(word)])]);
  const counts = new Map<string, { readonly word: string; count: number }>();
  for (const one of neighbours) {
    const values = new Set(one.claims.flatMap((claim) => claim.values.map(({ text }) => text)));
    const frame = new Set(one.claims.flatMap((claim) => [...claim.frame]));
    const seen = new Set<string>();
    for (const word of wordsBeside(own, one.quote))
      for (const term of termsOf(word)) {
        if (!frame.has(term) || values.has(term) || known.has(term) || seen.has(term)) continue;
        seen.add(term);
        const before = counts.get(term);
        if (before === undefined) counts.set(term, { word: word.toLowerCase(), count: 1 });
        else before.count++;
      }
  }
  return [...counts.values()]
    .filter(({ count }) => count >= LEAST_NEIGHBOURS)
    .sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
    .slice(0, Math.max(0, room))
    .map(({ word }) => word);
}

/** The words of a sentence that stand directly before or behind one of these terms: "the client Orsted". */
function wordsBeside(own: ReadonlySet<string>, quote: string): readonly string[] {
  const tokens = [...quote.matchAll(TOKEN)].map(([token]) => token);
  const isOwn = (at: number): boolean => hasTerm(own, tokens[at] ?? '');
  return tokens.filter((word, at) => WORD.test(word) && (isOwn(at - 1) || isOwn(at + 1)));
}

const termsOf = (words: string): ReadonlySet<string> => readClaim(words).wanted;
const hasTerm = (terms: ReadonlySet<string>, word: string): boolean =>
  [...termsOf(word)].some((term) => terms.has(term));

/** Whether neighbours may refine a note now: once a day, and never what a person pinned, froze or edited. */
export function mayEvolve(
  { pinned, frozen }: Pick<Lesson, 'pinned' | 'frozen'>,
  history: readonly LessonEvent[],
  now: number,
): boolean {
  if (pinned || frozen || history.some(({ by, op }) => by.kind === 'person' && op === 'revise')) return false;
  const last = history.findLast(
    ({ text }, nth) => nth > 0 && text.note.keywords.join() !== history[nth - 1]?.text.note.keywords.join(),
  );
  return last === undefined || now - last.at >= DAY_MS;
}
