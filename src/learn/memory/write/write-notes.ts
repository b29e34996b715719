import type { CoveredByLesson, Learner, Proposal } from '../../../core/learn.ts';
import { isActive, type Lesson, type LessonText, type Scope } from '../../../core/lesson.ts';
import type { Library } from '../../../core/library.ts';
import { sentencesOf } from '../../../text/sentences.ts';
import { truncateEnd } from '../../../text/truncate.ts';
import { readLesson } from '../../distiller/write-lesson.ts';
import { uniqueLessonName } from '../../draft-lesson.ts';
import { whyNotTakenBack } from '../../gate/judge-retirement.ts';
import type { SessionStatement } from '../working-memory.ts';
import { readClaim } from './claim.ts';
import { decide, isTakenBackSince, type KnownNote, notesOf } from './decide.ts';
import { FORGOTTEN, NOTES, writeNote } from './note-text.ts';

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

/** What is left of a note's confidence when somebody may have taken it back. */
const DOUBTED = 0.5;
const SAID_OTHERWISE = 'the user has said otherwise since';

/**
 * The write pipeline of notes: extract (the statements of the session, see `readWorkingMemory`) → decide (add, update, delete, nothing,
 * against what is known in the same place). Nothing is rephrased, so no note says the opposite of its sentence.
 */
export function createNoteWriter({ checkText, mostOfSession }: NoteWriterOptions): Learner<NoteMaterial> {
  return {
    name: NOTES,
    async *learn({ material: { scope, statements, turns }, library, newId, journal, signal }) {
      const lessons = library.lessons();
      const taken = new Set(lessons.filter(isActive).map(({ text }) => text.name));
      const notes = new Map(notesOf(lessons, scope).map((note) => [note.lesson.id, note]));
      const added = new Map<string, { text: LessonText; quotes: Proposal['quotes'] }>();
      /** Notes that lose confidence, once each. */
      const doubted = new Map<string, Lesson>();
      const retired: Proposal[] = [];
      const amended = new Map<string, Proposal>();
      let room = mostOfSession - lessons.filter((lesson) => isNoteOf(lesson, turns)).length;
      for (const statement of statements) {
        if (signal.aborted) return;
        const { turn } = statement;
        const at = turns.get(turn) ?? Number.POSITIVE_INFINITY;
        // A session that goes on after its end is promoted again: what was said otherwise since stays as it is.
        if (isTakenBackSince(statement.claim, at, lessons, scope)) continue;
        // The note of an earlier message may have been written after this one was sent. Names of turns sort by time.
        const isOlder = ({ lesson }: KnownNote): boolean =>
          lesson.createdAt <= at || (lesson.text.evidence.turns[0] ?? turn) < turn;
        const decision = decide(statement, [...notes.values()], isOlder);
        if (decision.op === 'delete') {
          for (const note of decision.forgotten)
            retired.push(...retire(note, { turn, reason: FORGOTTEN }, notes));
          for (const { lesson } of decision.doubted) {
            const own = added.get(lesson.id);
            if (own !== undefined) own.text = lessSure(own.text);
            else if (isNote(lesson)) doubted.set(lesson.id, lesson);
          }
          continue;
        }
        if (decision.op === 'nothing') {
          journal(`already known: ${decision.known.lesson.text.name}`);
          yield covered(decision.known, turn);
          const because = { turn, reason: SAID_OTHERWISE, supersededBy: decision.known.lesson.id };
          for (const note of decision.replaced) retired.push(...retire(note, because, notes));
          continue;
        }
        if (decision.op === 'amend') {
          const { note } = decision;
          if (note === undefined || (!added.has(note.lesson.id) && !mayBeAmended(note.lesson, library))) {
            journal(`left out: of what is "${truncateEnd(statement.quote, 80)}" said?`);
            continue;
          }
          const text = amend(note, statement);
          const why = checkText(text);
          if (why !== undefined) continue;
          const own = added.get(note.lesson.id);
          if (own === undefined) amended.set(note.lesson.id, revision(note.lesson, text, statement));
          else added.set(note.lesson.id, { text, quotes: [...own.quotes, ...quotesOf(statement)] });
          notes.set(note.lesson.id, withQuote(note, text));
          continue;
        }
        if (room <= 0) continue;
        const draft = writeNote(statement, scope, turn);
        const text = { ...draft, name: uniqueLessonName(draft.name, taken) };
        const why = checkText(text);
        if (why !== undefined) {
          journal(`left out: ${text.name}: ${why}`);
          continue;
        }
        room--;
        taken.add(text.name);
        const id = newId('lesson');
        added.set(id, { text, quotes: quotesOf(statement) });
        const because = { turn, reason: SAID_OTHERWISE, supersededBy: id };
        for (const note of decision.replaced) retired.push(...retire(note, because, notes));
        notes.set(id, { lesson: placeholder(id, text), quote: statement.quote, claims: [statement.claim] });
      }
      for (const [id, { text, quotes }] of added) yield add(id, text, quotes);
      yield* amended.values();
      yield* retired;
      for (const lesson of doubted.values())
        if (library.lesson(lesson.id)?.revision === lesson.revision) yield doubt(lesson, statements);
    },
  };
}

const isNote = ({ text }: Lesson): boolean => text.evidence.learner === NOTES;
const isNoteOf = (lesson: Lesson, turns: ReadonlyMap<string, number>): boolean =>
  isNote(lesson) && lesson.text.evidence.turns.slice(0, 1).some((turn) => turns.has(turn));

const covered = ({ lesson }: KnownNote, turn: string): CoveredByLesson => ({
  known: lesson.id,
  turns: [turn],
});

const add = (id: string, text: LessonText, quotes: Proposal['quotes']): Proposal => ({
  change: { op: 'add', id, kind: 'experience', state: 'proposed', text },
  quotes,
});

const quotesOf = ({ turn, quote }: SessionStatement): Proposal['quotes'] =>
  quote.split('\n').map((line) => ({ turn, text: line }));

const mayBeAmended = (lesson: Lesson, library: Pick<Library, 'lesson'>): boolean =>
  isNote(lesson) &&
  !lesson.pinned &&
  !lesson.frozen &&
  library.lesson(lesson.id)?.revision === lesson.revision;

/** The sentence that names the thing, and what became of that: of several updates the newest. */
function amend({ lesson, quote }: KnownNote, { quote: newest, turn, kind }: SessionStatement): LessonText {
  const [named = ''] = quote.split('\n');
  const { text } = lesson;
  const { description, content } = writeNote({ quote: `${named}\n${newest}`, kind }, text.scope, turn);
  const turns = [...new Set([...text.evidence.turns, turn])];
  return { ...text, description, content, evidence: { ...text.evidence, turns } };
}

const revision = (
  { id, revision: from }: Lesson,
  text: LessonText,
  statement: SessionStatement,
): Proposal => ({
  change: { op: 'revise', id, from, text },
  quotes: quotesOf(statement),
});

const withQuote = ({ lesson }: KnownNote, text: LessonText): KnownNote => {
  const quote = readLesson(text)?.quotes[0] ?? '';
  return { lesson: { ...lesson, text }, quote, claims: sentencesOf(quote).map(readClaim) };
};

interface Retirement {
  /** The turn in which it was taken back. */
  readonly turn: string;
  readonly reason: string;
  readonly supersededBy?: string;
}

/** The old note goes; what a person told or wrote stays until a person changes it. */
function retire(
  { lesson }: KnownNote,
  { turn, ...because }: Retirement,
  notes: Map<string, KnownNote>,
): readonly Proposal[] {
  if (whyNotTakenBack(lesson) !== undefined) return [];
  notes.delete(lesson.id);
  return [{ change: { op: 'retire', id: lesson.id, ...because }, quotes: [], turns: [turn] }];
}

/** The same words with less confidence: somebody may have taken them back. */
const lessSure = (text: LessonText): LessonText => ({
  ...text,
  note: { ...text.note, confidence: text.note.confidence * DOUBTED },
});

function doubt({ id, revision, text }: Lesson, statements: readonly SessionStatement[]): Proposal {
  const turns = [...new Set([...text.evidence.turns, ...statements.map(({ turn }) => turn)])];
  const doubted = { ...lessSure(text), evidence: { ...text.evidence, turns } };
  return { change: { op: 'revise', id, from: revision, text: doubted }, quotes: [] };
}

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
