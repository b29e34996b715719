import type { CoveredByLesson, Learner, Proposal } from '../../../core/learn.ts';
import type { Lesson, LessonText, Scope } from '../../../core/lesson.ts';
import { uniqueLessonName } from '../../draft-lesson.ts';
import { whyNotTakenBack } from '../../gate/judge-retirement.ts';
import type { SessionStatement } from '../working-memory.ts';
import { readClaim } from './claim.ts';
import { decide, isTakenBackSince, type KnownNote, notesOf } from './decide.ts';
import { evolvedKeywords, mayEvolve } from './evolve-note.ts';
import { FORGOTTEN, NOTES, withContext, writeNote } from './note-text.ts';

/** The statements of a session that has ended. */
export interface NoteMaterial {
  readonly scope: Scope;
  readonly statements: readonly SessionStatement[];
  /** Of the session, with the time of each: it has a bounded number of notes. */
  readonly turns: ReadonlyMap<string, number>;
}

interface NoteWriterOptions {
  /** Why the library would refuse a text. */
  readonly checkText: (text: LessonText) => string | undefined;
  /** Of one session. */
  readonly mostOfSession: number;
}

const MOST_LINKED = 4;
const MOST_SHARED = 3;
/** What is left of a note's confidence when somebody may have taken it back. */
const DOUBTED = 0.5;
const SAID_OTHERWISE = 'the user has said otherwise since';

/**
 * The write pipeline of notes: extract (the statements of the session, see `readWorkingMemory`) → decide (add, update, delete, nothing,
 * against what is known in the same place) → link (notes on the same thing, both ways) → evolve (a note gains tags that it shares with
 * its neighbours, and keywords that they share; its quoted words never change). Nothing is rephrased, so no note says the opposite of its sentence.
 */
export function createNoteWriter({ checkText, mostOfSession }: NoteWriterOptions): Learner<NoteMaterial> {
  return {
    name: NOTES,
    async *learn({ material: { scope, statements, turns }, library, newId, journal, signal }) {
      const lessons = library.lessons();
      const taken = new Set(lessons.filter(isInUse).map(({ text }) => text.name));
      const known = new Map(notesOf(lessons, scope).map((note) => [note.lesson.id, note]));
      const added = new Map<string, { text: LessonText; readonly statement: SessionStatement }>();
      /** Known notes whose context changes, once each. */
      const evolved = new Map<string, LessonText>();
      /** The turns of those whose words they gain: they rest on them, too, and are erased with them. */
      const borrowed = new Map<string, readonly string[]>();
      const retired: Proposal[] = [];
      let room = mostOfSession - lessons.filter((lesson) => isNoteOf(lesson, turns)).length;
      const textOf = ({ lesson: { id, text } }: KnownNote): LessonText =>
        added.get(id)?.text ?? evolved.get(id) ?? text;
      const evolve = (note: KnownNote, change: Parameters<typeof withContext>[1]): void => {
        const text = withContext(textOf(note), change);
        const own = added.get(note.lesson.id);
        if (text === undefined) return;
        if (own === undefined) evolved.set(note.lesson.id, text);
        else own.text = text;
      };
      for (const statement of statements) {
        if (signal.aborted) return;
        const { turn } = statement;
        const at = turns.get(turn) ?? Number.POSITIVE_INFINITY;
        // A session that goes on after its end is promoted again: what was said otherwise since stays as it is.
        if (isTakenBackSince(statement.claim, at, lessons, scope)) continue;
        // The note of an earlier message may have been written after this one was sent. Names of turns sort by time.
        const isOlder = ({ lesson }: KnownNote): boolean =>
          lesson.createdAt <= at || (lesson.text.evidence.turns[0] ?? turn) < turn;
        const decision = decide(statement, [...known.values()], isOlder);
        if (decision.op === 'delete') {
          for (const note of decision.forgotten)
            retired.push(...retire(note, turn, FORGOTTEN, undefined, known));
          for (const note of decision.doubted)
            if (isNote(note.lesson)) evolve(note, { confidence: note.lesson.text.note.confidence * DOUBTED });
          continue;
        }
        if (decision.op === 'nothing') {
          journal(`already known: ${decision.known.lesson.text.name}`);
          yield covered(decision.known, turn);
          const { id } = decision.known.lesson;
          for (const note of decision.replaced)
            retired.push(...retire(note, turn, SAID_OTHERWISE, id, known));
          continue;
        }
        if (room <= 0) continue;
        const beside = decision.beside.filter(({ lesson }) => isNote(lesson)).slice(-MOST_LINKED);
        const draft = writeNote(
          statement,
          scope,
          turn,
          beside.map(({ lesson }) => lesson.id),
        );
        const shared = sharedTags(statement, beside);
        const named = { ...draft, name: uniqueLessonName(draft.name, taken) };
        const text = withContext(named, { tags: shared }) ?? named;
        const why = checkText(text);
        if (why !== undefined) {
          journal(`left out: ${text.name}: ${why}`);
          continue;
        }
        room--;
        taken.add(text.name);
        const id = newId('lesson');
        added.set(id, { text, statement });
        for (const note of beside) {
          const others = neighboursOf(note, beside, known).filter((one) => !decision.replaced.includes(one));
          const said = { quote: statement.quote, claims: [statement.claim] };
          const isOpen = mayEvolve(note.lesson, library.history(note.lesson.id), at);
          const keywords = isOpen ? evolvedKeywords(note, [said, ...others]) : [];
          evolve(note, { links: [id], tags: sharedTags(statement, [note]), keywords });
          if (keywords.length > 0) borrowed.set(note.lesson.id, turnsOf(others));
        }
        for (const note of decision.replaced) retired.push(...retire(note, turn, SAID_OTHERWISE, id, known));
        known.set(id, { lesson: placeholder(id, text), quote: statement.quote, claims: [statement.claim] });
      }
      for (const [id, { text, statement }] of added) yield add(id, text, statement);
      yield* retired;
      for (const [id, text] of evolved) {
        const old = known.get(id)?.lesson;
        if (old === undefined || library.lesson(id)?.revision !== old.revision) continue;
        const said = [...statements.map(({ turn }) => turn), ...(borrowed.get(id) ?? [])];
        const cited = [...new Set([...text.evidence.turns, ...said])];
        yield {
          change: {
            op: 'revise',
            id,
            from: old.revision,
            text: { ...text, evidence: { ...text.evidence, turns: cited } },
          },
          quotes: [],
        };
      }
    },
  };
}

const isInUse = ({ state }: Lesson): boolean => state !== 'retired' && state !== 'rejected';
const isNote = ({ text }: Lesson): boolean => text.evidence.learner === NOTES;
const isNoteOf = (lesson: Lesson, turns: ReadonlyMap<string, number>): boolean =>
  isNote(lesson) && lesson.text.evidence.turns.slice(0, 1).some((turn) => turns.has(turn));

const covered = ({ lesson }: KnownNote, turn: string): CoveredByLesson => ({
  known: lesson.id,
  turns: [turn],
});

const add = (id: string, text: LessonText, { turn, quote }: SessionStatement): Proposal => ({
  change: { op: 'add', id, kind: 'experience', state: 'proposed', text },
  quotes: quote.split('\n').map((line) => ({ turn, text: line })),
});

/** The old note goes; what a person told or wrote stays until a person changes it. */
function retire(
  { lesson }: KnownNote,
  turn: string,
  reason: string,
  supersededBy: string | undefined,
  known: Map<string, KnownNote>,
): readonly Proposal[] {
  if (whyNotTakenBack(lesson) !== undefined) return [];
  known.delete(lesson.id);
  const change = {
    op: 'retire',
    id: lesson.id,
    reason,
    ...(supersededBy === undefined ? {} : { supersededBy }),
  } as const;
  return [{ change, quotes: [], turns: [turn] }];
}

/** What a statement and its neighbours are both about. */
function sharedTags(statement: SessionStatement, beside: readonly KnownNote[]): readonly string[] {
  const theirs = new Set(beside.flatMap(({ claims }) => claims.flatMap(({ wanted }) => [...wanted])));
  const words = statement.quote.match(/[\p{L}][\p{L}\p{N}-]{2,30}/gu) ?? [];
  const isShared = (word: string): boolean => [...readClaim(word).wanted].some((term) => theirs.has(term));
  return [...new Set(words.filter(isShared).map((word) => word.toLowerCase()))].slice(0, MOST_SHARED);
}

/** The notes on the same thing as a note: those it is linked with, and those beside the newest statement. */
function neighboursOf(
  { lesson: { id, text } }: KnownNote,
  beside: readonly KnownNote[],
  known: ReadonlyMap<string, KnownNote>,
): readonly KnownNote[] {
  const linked = text.note.links.flatMap((link) => known.get(link) ?? []);
  return [...new Set([...linked, ...beside])].filter(({ lesson }) => lesson.id !== id);
}

const turnsOf = (notes: readonly KnownNote[]): readonly string[] =>
  notes.flatMap(({ lesson }) => lesson.text.evidence.turns.slice(0, 1));

/** A note of this run, for the statements behind it. */
const placeholder = (id: string, text: LessonText): Lesson => ({
  id,
  kind: 'experience',
  state: 'proposed',
  revision: 0,
  text,
  pinned: false,
  frozen: false,
  createdAt: 0,
  changedAt: 0,
});
