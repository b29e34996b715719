import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Fact, StoredFact } from '../../core/fact.ts';
import type {
  Author,
  Change,
  ErasedText,
  LessonKind,
  LessonState,
  LessonText,
  RecordedChange,
} from '../../core/lesson.ts';
import { PROMPT_KINDS } from '../../core/lesson.ts';
import { isAttemptId } from '../../core/principal.ts';
import type { NamedLesson } from '../../core/store.ts';
import { ownKeywords, withoutWordsOf } from './erase-words.ts';

/** The record as far as an erasure needs it. */
export interface LessonErasureInput {
  readonly session: string;
  /** The `library-changed` facts, oldest first. */
  readonly library: readonly StoredFact[];
  /** The `cycle-end` facts. */
  readonly cycles: readonly StoredFact[];
  /** The session that a turn belongs to; undefined for an unknown turn, such as one of an episode. */
  readonly sessionOf: (turn: string) => { readonly id: string; readonly erased: boolean } | undefined;
  /** All texts of a session, as they were recorded. */
  readonly wordsOf: (session: string) => readonly string[];
  /** Whether later sessions that went well with a lesson support it: for sessions that merely expired. */
  readonly isProven: (lesson: string) => boolean;
}

export interface LessonErasure {
  /** The rewritten facts. */
  readonly facts: readonly StoredFact[];
  /** To be appended: what the lessons become. */
  readonly appended: (Fact & { readonly type: 'library-changed' }) | undefined;
  readonly retired: readonly NamedLesson[];
  readonly cleaned: readonly NamedLesson[];
  /** Revisions whose text is erased, by lesson: prompts that contain them are erased as well. */
  readonly revisions: ReadonlyMap<string, ReadonlySet<number>>;
}

const ERASURE: Author = { kind: 'instar', name: 'erasure' };
const RETIRED = 'the session it was learned from was erased';

/**
 * What becomes of the lessons that were learned from a session when it is erased. Quotes and contexts of the session go. A text that a person wrote, changed or approved stays; so does one that other sessions support, without the sentences
 * that only this session contains. Any other text is erased in every fact, and its lesson returns to the newest text that
 * stays, or retires. Pure.
 */
export function planLessonErasure(input: LessonErasureInput): LessonErasure {
  const shownTo = setsShown(input.cycles, input.session);
  const traced = traceLessons(input.library);
  const plans = [...traced.values()].flatMap((lesson) => planLesson(lesson, shownTo, input) ?? []);
  const actions = new Map(plans.map((plan) => [plan.lesson.id, plan]));
  const names = plans.filter(({ fate }) => fate === 'retired').map(({ lesson }) => nameOf(lesson));
  const facts = input.library.flatMap((stored) => rewriteLibraryFact(stored, actions, names));
  const changes = plans.flatMap(({ changes: own }) => own);
  const generation = generationAfter(input.library, changes, traced);
  const set = `${setPrefix(input.session)}${input.library.at(-1)?.seq ?? 0}`;
  return {
    facts,
    appended:
      changes.length === 0
        ? undefined
        : { type: 'library-changed', set, by: ERASURE, reason: 'a session was erased', changes, generation },
    retired: plans.filter(({ fate }) => fate === 'retired').map(named),
    cleaned: plans.filter(({ fate }) => fate === 'cleaned').map(named),
    revisions: new Map(plans.map(({ lesson, erased }) => [lesson.id, revisionsOf(lesson, erased)])),
  };
}

const setPrefix = (session: string): string =>
  `erasure-${createHash('sha256').update(session).digest('hex').slice(0, 16)}-`;

/** Whether a change of the library was made by the erasure of a session. */
export const isErasureOf = (fact: Fact & { readonly type: 'library-changed' }, session: string): boolean =>
  fact.by.kind === 'instar' && fact.set.startsWith(setPrefix(session));

const named = ({ lesson }: LessonPlan): NamedLesson => ({ id: lesson.id, name: nameOf(lesson) });

const nameOf = ({ revisions }: TracedLesson): string =>
  revisions.findLast(({ name }) => name !== '')?.name ?? '';

const revisionsOf = ({ revisions }: TracedLesson, erased: ReadonlySet<number>): ReadonlySet<number> =>
  new Set(revisions.flatMap(({ text }, at) => (erased.has(text) ? [at + 1] : [])));

/** The change sets whose learner was shown the session. */
const setsShown = (cycles: readonly StoredFact[], session: string): ReadonlySet<string> =>
  new Set(
    cycles.flatMap(({ fact }) =>
      fact.type === 'cycle-end' && fact.set !== undefined && fact.sessions?.includes(session) === true
        ? [fact.set]
        : [],
    ),
  );

/** One text of a lesson. Equal texts of several revisions are one. */
interface TracedText {
  readonly words: LessonText | undefined;
  /** A person wrote or approved it. */
  isPersons: boolean;
  readonly sets: Set<string>;
}

interface TracedLesson {
  readonly id: string;
  readonly kind: LessonKind;
  state: LessonState;
  /** By number, from 1: the revision in which the text first occurred. */
  readonly texts: Map<number, TracedText>;
  readonly revisions: { readonly text: number; readonly name: string }[];
}

/** The lessons with all their texts. Only changes that took effect are in the record. */
function traceLessons(library: readonly StoredFact[]): ReadonlyMap<string, TracedLesson> {
  const lessons = new Map<string, TracedLesson>();
  for (const { fact } of library) {
    if (fact.type !== 'library-changed') continue;
    for (const change of fact.changes) traceChange(lessons, change, fact);
  }
  return lessons;
}

function traceChange(
  lessons: Map<string, TracedLesson>,
  change: RecordedChange,
  { set, by }: Fact & { readonly type: 'library-changed' },
): void {
  const id = change.op === 'merge' ? change.into : change.id;
  if (change.op === 'add')
    lessons.set(id, { id, kind: change.kind, state: change.state, texts: new Map(), revisions: [] });
  const lesson = lessons.get(id);
  if (lesson === undefined) return;
  if (change.op === 'add' || change.op === 'revise' || change.op === 'merge')
    revise(lesson, change.text, set);
  if (change.op === 'merge') {
    for (const other of change.ids) {
      const merged = other === id ? undefined : lessons.get(other);
      if (merged !== undefined) merged.state = 'retired';
    }
  }
  if (change.op === 'retire') lesson.state = 'retired';
  if (change.op === 'move') lesson.state = change.to;
  if (change.op === 'restore') {
    lesson.state = change.state;
    const back = lesson.revisions[change.revision - 1];
    if (back !== undefined && back.text !== lesson.revisions.at(-1)?.text) lesson.revisions.push(back);
  }
  const current = lesson.texts.get(lesson.revisions.at(-1)?.text ?? 0);
  if (current !== undefined && isPerson(by) && isVouching(change)) current.isPersons = true;
}

/** Earlier versions recorded edits by file as those of a person. */
const isPerson = ({ kind, name }: Author): boolean => kind === 'person' && name !== 'skills folder';

/** Merges and rollbacks treat many lessons at once: they vouch for no text. */
const isVouching = (change: RecordedChange): boolean =>
  change.op === 'add' ||
  change.op === 'revise' ||
  (change.op === 'move' && (change.to === 'trial' || change.to === 'live')) ||
  (change.op === 'mark' && (change.pinned === true || change.frozen === true));

function revise(lesson: TracedLesson, text: LessonText | ErasedText, set: string): void {
  const { texts, revisions } = lesson;
  const number = 'erased' in text ? text.erased : numberOf(texts, text, revisions.length + 1);
  const known = texts.get(number);
  if (known !== undefined) known.sets.add(set);
  else {
    const words = 'erased' in text ? undefined : text;
    // Whoever vouched for words vouched for them with other evidence too.
    const isPersons = [...texts.values()].some((one) => one.isPersons && hasSameWords(one.words, words));
    texts.set(number, { words, isPersons, sets: new Set([set]) });
  }
  if (revisions.at(-1)?.text === number) return;
  revisions.push({ text: number, name: 'erased' in text ? '' : text.name });
}

const hasSameWords = (a: LessonText | undefined, b: LessonText | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.name === b.name &&
  a.description === b.description &&
  a.content === b.content;

function numberOf(texts: ReadonlyMap<number, TracedText>, text: LessonText, next: number): number {
  for (const [number, { words }] of texts) if (isDeepStrictEqual(words, text)) return number;
  return next;
}

interface LessonPlan {
  readonly lesson: TracedLesson;
  readonly fate: 'retired' | 'cleaned';
  /** Numbers of the texts that are erased. */
  readonly erased: ReadonlySet<number>;
  /** The texts that lose quotes, turns and context. */
  readonly stripped: ReadonlyMap<number, LessonText>;
  readonly changes: readonly Change[];
}

/** Undefined for a lesson that has nothing of the session. */
function planLesson(
  lesson: TracedLesson,
  shownTo: ReadonlySet<string>,
  input: LessonErasureInput,
): LessonPlan | undefined {
  const erased = new Set<number>();
  const stripped = new Map<number, LessonText>();
  const rewritten = new Map<number, LessonText>();
  for (const [number, { words, isPersons, sets }] of lesson.texts) {
    if (words === undefined) continue;
    const turns = turnsOf(words);
    const restsOn = turns.some((turn) => isOf(turn, input));
    if (!restsOn && (isPersons || ![...sets].some((set) => shownTo.has(set)))) continue;
    // An attempt at a task of the session supports nothing by itself.
    const others = turns.filter(
      (turn) => !isOf(turn, input) && !isAttemptId(turn) && input.sessionOf(turn)?.erased !== true,
    );
    const bare = withoutQuotes(words, input);
    if (isPersons || (restsOn && others.length === 0 && input.isProven(lesson.id)))
      stripped.set(number, bare);
    else if (restsOn && others.length === 0) erased.add(number);
    else {
      const supporting = new Set(others.flatMap((turn) => input.sessionOf(turn)?.id ?? []));
      const clean = withoutWordsOf(
        bare,
        input.wordsOf(input.session),
        [...supporting].flatMap(input.wordsOf),
      );
      if (clean === bare) {
        if (restsOn) stripped.set(number, bare);
      } else {
        erased.add(number);
        if (clean !== undefined) rewritten.set(number, withTurns(clean, others));
      }
    }
  }
  if (erased.size + stripped.size === 0) return undefined;
  eraseIndistinct(lesson, stripped, erased);
  const { changes, isGone } = afterErasure(lesson, erased, rewritten);
  return { lesson, fate: isGone ? 'retired' : 'cleaned', erased, stripped, changes };
}

const isOf = (turn: string, { session, sessionOf }: LessonErasureInput): boolean =>
  turn === session || sessionOf(turn)?.id === session;

const turnsOf = ({ evidence }: LessonText): readonly string[] => [
  ...new Set([...evidence.turns, ...evidence.quotes.map(({ turn }) => turn)]),
];

/**
 * Without the session's quotes, the context, and the hash of the prompt that contained the session. The ids of its turns
 * stay in the record, as they do in the facts of the session itself: training must not use what a lesson was learned from.
 */
function withoutQuotes(text: LessonText, input: LessonErasureInput): LessonText {
  // Triggers are worded as the session's tasks were, and a keyword that the text has not may come from what the session said.
  const { context: _context, triggers: _triggers, keywords: all, ...note } = text.note;
  const keywords = ownKeywords(text, all);
  const { prompt: _prompt, ...evidence } = text.evidence;
  const quotes = evidence.quotes.filter(({ turn }) => !isOf(turn, input));
  return { ...text, note: { ...note, keywords }, evidence: { ...evidence, quotes } };
}

const withTurns = (text: LessonText, turns: readonly string[]): LessonText => ({
  ...text,
  evidence: { ...text.evidence, turns: text.evidence.turns.filter((turn) => turns.includes(turn)) },
});

/** Texts that differed only in what is removed must stay different, or the fold would skip a revision: older ones go. */
function eraseIndistinct(
  { texts, revisions }: TracedLesson,
  stripped: Map<number, LessonText>,
  erased: Set<number>,
): void {
  const current = revisions.at(-1)?.text;
  const after = new Map<number, LessonText>();
  for (const [number, { words }] of texts) {
    const text = stripped.get(number) ?? words;
    if (text !== undefined && !erased.has(number)) after.set(number, text);
  }
  for (const [number, text] of after) {
    const isTwin = [...after].some(
      ([other, its]) =>
        other !== number && !erased.has(other) && isDeepStrictEqual(text, its) && number !== current,
    );
    if (!isTwin) continue;
    erased.add(number);
    stripped.delete(number);
  }
}

/** What a lesson becomes when some of its texts are erased. */
function afterErasure(
  { id, state, texts, revisions }: TracedLesson,
  erased: ReadonlySet<number>,
  rewritten: ReadonlyMap<number, LessonText>,
): { readonly changes: readonly Change[]; readonly isGone: boolean } {
  const current = revisions.at(-1)?.text ?? 0;
  if (!erased.has(current)) return { changes: [], isGone: false };
  const isActive = state !== 'retired' && state !== 'rejected';
  const text = rewritten.get(current);
  if (text !== undefined && isActive)
    return { changes: [{ op: 'revise', id, from: revisions.length, text }], isGone: false };
  const back = revisions.findLastIndex(
    ({ text: number }) => !erased.has(number) && texts.get(number)?.words !== undefined,
  );
  if (back >= 0)
    return { changes: isActive ? [{ op: 'restore', id, revision: back + 1, state }] : [], isGone: false };
  return { changes: isActive ? [{ op: 'retire', id, reason: RETIRED }] : [], isGone: true };
}

/** The fact without what the plans erase; nothing when it has nothing of it. */
function rewriteLibraryFact(
  stored: StoredFact,
  plans: ReadonlyMap<string, LessonPlan>,
  names: readonly string[],
): readonly StoredFact[] {
  const { fact } = stored;
  if (fact.type !== 'library-changed') return [];
  const changes = fact.changes.map((change) => rewriteChange(change, plans));
  const hasErased = changes.some(
    (change, at) => change !== fact.changes[at] && 'text' in change && 'erased' in change.text,
  );
  const isNamed = names.some((name) => mentions(fact.reason, name));
  const reason = hasErased || isNamed ? '' : fact.reason;
  const isSame = reason === fact.reason && changes.every((change, at) => change === fact.changes[at]);
  return isSame ? [] : [{ ...stored, fact: { ...fact, reason, changes } }];
}

function rewriteChange(change: RecordedChange, plans: ReadonlyMap<string, LessonPlan>): RecordedChange {
  const plan = plans.get(change.op === 'merge' ? change.into : change.id);
  if (plan === undefined) return change;
  if ('text' in change) {
    if ('erased' in change.text) return change;
    const number = numberOf(plan.lesson.texts, change.text, 0);
    const stripped = plan.stripped.get(number);
    if (stripped !== undefined) return { ...change, text: stripped };
    if (!plan.erased.has(number)) return change;
    const { reason: _reason, check: _check, ...rest } = { reason: undefined, check: undefined, ...change };
    const { turns } = change.text.evidence;
    return { ...rest, text: { erased: number, ...(turns.length === 0 ? {} : { evidence: { turns } }) } };
  }
  // A check is made of the words of the rule: it goes with them.
  if (change.op === 'check' && plan.erased.size > 0) return { op: 'check', id: change.id };
  if (plan.fate !== 'retired' || !('reason' in change) || change.reason === '') return change;
  return { ...change, reason: '' };
}

/** Whether a text contains a lesson's name as a whole. */
const mentions = (text: string, name: string): boolean =>
  name !== '' && text.split(/[^a-z0-9-]+/).includes(name);

/** A change to what prompts contain makes a new generation. */
function generationAfter(
  library: readonly StoredFact[],
  changes: readonly Change[],
  lessons: ReadonlyMap<string, TracedLesson>,
): number {
  const generations = library.map(({ fact }) => (fact.type === 'library-changed' ? fact.generation : 0));
  const last = generations.reduce((most, one) => Math.max(most, one), 0);
  const isShown = changes.some((change) => {
    const lesson = lessons.get('id' in change ? change.id : '');
    return (
      lesson !== undefined &&
      PROMPT_KINDS.has(lesson.kind) &&
      (lesson.state === 'trial' || lesson.state === 'live')
    );
  });
  return isShown ? last + 1 : last;
}
