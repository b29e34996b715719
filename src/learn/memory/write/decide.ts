import { isActive, type Lesson } from '../../../core/lesson.ts';
import { placeKey } from '../../../core/principal.ts';
import { foldAccents } from '../../../reader/own-sentences.ts';
import { sentencesOf } from '../../../text/sentences.ts';
import { compareClaims, mayHaveBecome, replacesWords } from '../../compare-words.ts';
import { readLesson } from '../../distiller/write-lesson.ts';
import { readClaim, type SentenceClaim } from './claim.ts';
import { MOVES_IT } from './claim-words.ts';
import { isForgotten, readForgetRequests } from './forget-requests.ts';
import type { Statement } from './read-statements.ts';

/** A lesson that quotes a person, with what its words claim. */
export interface KnownNote {
  readonly lesson: Lesson;
  /** The words that hold now. */
  readonly quote: string;
  /** Of their sentences. */
  readonly claims: readonly SentenceClaim[];
}

/** What a statement does to the notes of its place. */
type NoteDecision =
  /** It is new. `replaced`: notes that it takes the place of; then it is an update. */
  | { readonly op: 'add' | 'update'; readonly replaced: readonly KnownNote[] }
  /** A lesson says it already; `replaced` are others that it takes the place of. */
  | { readonly op: 'nothing'; readonly known: KnownNote; readonly replaced: readonly KnownNote[] }
  /** What became of the thing that a note names: it is said beside that. Undefined: of which, cannot be told. */
  | { readonly op: 'amend'; readonly note: KnownNote | undefined }
  /** Notes that are to be forgotten. `doubted`: it may be that they are meant, and they lose confidence. */
  | {
      readonly op: 'delete';
      readonly forgotten: readonly KnownNote[];
      readonly doubted: readonly KnownNote[];
    };

/** The learners whose lessons quote people. */
const QUOTING: ReadonlySet<string> = new Set(['notes', 'distiller']);

/** The lessons that quote a person, of one place. */
const quotingOf = (lessons: readonly Lesson[], scope: Lesson['text']['scope']): readonly KnownNote[] =>
  lessons
    .filter(({ text }) => QUOTING.has(text.evidence.learner) && placeKey(text.scope) === placeKey(scope))
    .flatMap((lesson) => {
      const quote = readLesson(lesson.text)?.quotes[0];
      return quote === undefined ? [] : [{ lesson, quote, claims: sentencesOf(quote).map(readClaim) }];
    });

/** Those in use. */
export const notesOf = (lessons: readonly Lesson[], scope: Lesson['text']['scope']): readonly KnownNote[] =>
  quotingOf(lessons.filter(isActive), scope);

/** Whether these words were learned, and retired after they were said. */
export const isTakenBackSince = (
  claim: SentenceClaim,
  at: number,
  lessons: readonly Lesson[],
  scope: Lesson['text']['scope'],
): boolean =>
  quotingOf(
    lessons.filter((lesson) => !isActive(lesson) && lesson.changedAt > at),
    scope,
  ).some(({ claims }) => claims.some((one) => compareClaims(claim, one) === 'same'));

/**
 * Decides a statement against what is known. The words of the statement are compared sentence by sentence. Only what is older than the
 * statement is replaced or forgotten.
 */
export function decide(
  statement: Statement & { readonly context?: string },
  notes: readonly KnownNote[],
  isOlder: (note: KnownNote) => boolean = () => true,
): NoteDecision {
  const claims = sentencesOf(statement.quote).map(readClaim);
  const relate = ({ claims: theirs }: KnownNote) =>
    theirs.map((older) => claims.map((newer) => compareClaims(newer, older)));
  const requests = sentencesOf(statement.quote).flatMap(readForgetRequests);
  const known = notes.find((note) => {
    const relations = relate(note);
    return claims.every((_, nth) => relations.some((row) => row[nth] === 'same'));
  });
  const others = notes.filter((note) => note !== known && isOlder(note));
  const meant = requests.map(({ terms, isSure }) => ({
    isSure,
    found: others.filter((note) => note.claims.some((claim) => isForgotten({ terms, isSure }, claim))),
  }));
  // An everyday word that several notes have may mean another thing.
  const forgotten = meant.flatMap(({ isSure, found }) => (isSure || found.length === 1 ? found : []));
  const doubted = meant.flatMap(({ found }) => found).filter((note) => !forgotten.includes(note));
  if (statement.isUpdate === true && known === undefined) {
    const note = noteMeant(statement, claims, others);
    const tellsEnough = MOVES_IT.test(foldAccents(statement.quote));
    return note === undefined && tellsEnough ? { op: 'add', replaced: [] } : { op: 'amend', note };
  }
  if (statement.kind === 'forget') return { op: 'delete', forgotten, doubted };
  const replaced = others.filter(
    (note) => forgotten.includes(note) || replacesWords(statement.quote, note.quote),
  );
  if (known !== undefined) return { op: 'nothing', known, replaced };
  return { op: replaced.length > 0 ? 'update' : 'add', replaced };
}

/** The one note that unnamed words are about: what they were said beside has its words; said alone, there is no other that they could mean. */
function noteMeant(
  { quote, context = '' }: Parameters<typeof decide>[0],
  claims: readonly SentenceClaim[],
  notes: readonly KnownNote[],
): KnownNote | undefined {
  const beside = new Set(sentencesOf(context).flatMap((sentence) => [...readClaim(sentence).wanted]));
  const open = notes.filter((note) =>
    note.claims.some((older) => claims.some((newer) => mayHaveBecome(newer, older))),
  );
  const isNamed = ({ claims: [first] }: KnownNote): boolean =>
    [...(first?.subject ?? first?.frame ?? [])].some((term) => beside.has(term));
  const meant = beside.size > 0 ? open.filter(isNamed) : MOVES_IT.test(foldAccents(quote)) ? open : [];
  return meant.length === 1 ? meant[0] : undefined;
}
