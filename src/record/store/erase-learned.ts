import type { Fact, StoredFact } from '../../core/fact.ts';
import { type Json, parseJson } from '../../core/json.ts';
import type { LessonText, RecordedChange } from '../../core/lesson.ts';
import { type Erasure, libraryKey } from '../../core/store.ts';
import { isErasureOf, type LessonErasure, planLessonErasure } from './erase-lessons.ts';
import type { Tables } from './tables.ts';

export const NOTHING_LEARNED: Erasure['lessons'] = { retired: [], cleaned: [] };

interface ErasedRevisions {
  readonly revisions: ReadonlyMap<string, Pick<ReadonlySet<number>, 'has' | 'size'>>;
  readonly retired: LessonErasure['retired'];
}

/** From this score on a session counts as successful. */
const WELL = 0.5;

/**
 * Erases what was learned from a session, before its own content is erased: the texts of lessons, the prompts of other
 * sessions that contain them, and the reasons that learning recorded. `append` adds the fact of what the lessons become.
 */
export function eraseLearned(
  tables: Tables,
  session: string,
  isExpired: boolean,
  append: (fact: Fact, key: string) => void,
): Erasure['lessons'] {
  const library = tables.factsOf('library-changed');
  const cycles = tables.factsOf('cycle-end');
  if (library.length + cycles.length === 0) return NOTHING_LEARNED;
  const proven = isExpired ? provenLessons(tables, session) : new Set<string>();
  const sessionOf = (turn: string): { readonly id: string; readonly erased: boolean } | undefined => {
    const row = tables.turn(turn);
    return row && { id: row.session, erased: row.erased };
  };
  const plan = planLessonErasure({
    session,
    library,
    cycles,
    sessionOf,
    wordsOf: cached((id) => tables.textsOf(id).flatMap(stringsIn)),
    isProven: (lesson) => proven.has(lesson),
  });
  for (const stored of plan.facts) tables.overwriteFact(stored);
  erasePrompts(tables, plan);
  const startedAt = tables.session(session)?.startedAt ?? 0;
  const items = new Set(
    tables
      .factsOf('learning-queued')
      .flatMap(({ fact }) =>
        fact.type === 'learning-queued' && fact.session === session ? [fact.item] : [],
      ),
  );
  const isLinked = ({ at, fact }: StoredFact): boolean =>
    fact.type === 'cycle-end' &&
    (fact.sessions?.includes(session) ??
      (fact.turns.some((turn) => sessionOf(turn)?.id === session) ||
        fact.items.some((item) => items.has(item)) ||
        // An earlier version did not record what the learner was shown.
        (fact.turns.length === 0 && at >= startedAt)));
  const erased = new Set(plan.retired.map(({ id }) => id));
  for (const stored of cycles) {
    const scrubbed = scrubCycle(stored.fact, isLinked(stored), erased);
    if (scrubbed !== stored.fact) tables.overwriteFact({ ...stored, fact: scrubbed });
  }
  if (plan.appended !== undefined) append(plan.appended, libraryKey(library.at(-1)?.seq ?? 0));
  return { retired: plan.retired, cleaned: plan.cleaned };
}

/** Lessons that other sessions were shown and went well with. */
function provenLessons(tables: Tables, session: string): ReadonlySet<string> {
  const proven = new Set<string>();
  for (const { fact } of tables.factsOf('session-scored')) {
    if (fact.type !== 'session-scored' || fact.session === session) continue;
    if (fact.score === undefined || fact.score < WELL) continue;
    if (tables.session(fact.session)?.erased === false) for (const id of fact.lessons) proven.add(id);
  }
  return proven;
}

/** Prompts that were recorded after an erasure with a text that it erased: another thread had the text in memory. */
export function eraseLatePrompts(tables: Tables, session: string): void {
  for (const { seq, fact } of tables.factsOf('library-changed')) {
    if (fact.type !== 'library-changed' || !isErasureOf(fact, session)) continue;
    const retired = fact.changes.flatMap((change) =>
      change.op === 'retire' ? [{ id: change.id, name: '' }] : [],
    );
    const revisions = new Map(
      fact.changes.flatMap((change) =>
        change.op === 'revise'
          ? [[change.id, new Set([change.from])] as const]
          : 'id' in change
            ? [[change.id, EVERY_REVISION] as const]
            : [],
      ),
    );
    erasePrompts(tables, { revisions, retired }, seq);
  }
}

const EVERY_REVISION: Pick<ReadonlySet<number>, 'has' | 'size'> = { has: () => true, size: 1 };

/** Blocks of other sessions that contain an erased text, and the names of retired lessons in their recalls. */
function erasePrompts(tables: Tables, { revisions, retired }: ErasedRevisions, after = 0): void {
  const gone = new Set(retired.map(({ id }) => id));
  const touched = [...revisions].filter(([, numbers]) => numbers.size > 0).map(([id]) => id);
  for (const stored of touched.length === 0 ? [] : tables.recallsOf(touched, after)) {
    const { fact } = stored;
    if (fact.type !== 'lessons-recalled') continue;
    const looked = new Map(fact.considered.map((one) => [one.id, one.revision]));
    const hasErased = fact.lessons.some((id) => {
      const numbers = revisions.get(id);
      const revision = looked.get(id);
      return numbers !== undefined && (revision === undefined || numbers.has(revision));
    });
    const considered = fact.considered.map(({ error, ...one }) =>
      gone.has(one.id) ? { ...one, name: '' } : { ...one, ...(error === undefined ? {} : { error }) },
    );
    const { block, ...rest } = fact;
    if (hasErased && block !== undefined) tables.dropUse(fact.session, block);
    const kept = hasErased || block === undefined ? {} : { block };
    tables.overwriteFact({ ...stored, fact: { ...rest, ...kept, considered } });
  }
}

/** A cycle's fact without the names and reasons of what it learned from an erased session. */
function scrubCycle(fact: Fact, isLinked: boolean, erased: ReadonlySet<string>): Fact {
  if (fact.type !== 'cycle-end') return fact;
  const isBare = (one: (typeof fact.judgements)[number]): boolean => one.name === '' && one.why.length === 0;
  const isErased = (one: (typeof fact.judgements)[number]): boolean =>
    !isBare(one) && (isLinked || erased.has(one.lesson));
  const hasNote = isLinked && fact.note !== undefined;
  if (!hasNote && !fact.judgements.some(isErased)) return fact;
  const judgements = fact.judgements.map((one) => (isErased(one) ? { ...one, name: '', why: [] } : one));
  const { note, ...rest } = fact;
  return { ...rest, judgements, ...(hasNote || note === undefined ? {} : { note }) };
}

/**
 * A change of the library that arrives after the erasure of a session that it was learned from: a learner was at work.
 * What it cites of erased sessions is left out, and a text that cites nothing else is not stored.
 */
export function withoutErasedEvidence(fact: Fact, isErased: (turn: string) => boolean): Fact {
  if (fact.type !== 'library-changed' || fact.by.kind !== 'learner') return fact;
  const changes = fact.changes.flatMap((change): readonly RecordedChange[] => {
    if (!('text' in change) || 'erased' in change.text) return [change];
    const { text } = change;
    const { turns, quotes } = text.evidence;
    if (!turns.some(isErased) && !quotes.some(({ turn }) => isErased(turn))) return [change];
    const left = turns.filter((turn) => !isErased(turn));
    return left.length === 0 ? [] : [{ ...change, text: withEvidence(text, left, isErased) }];
  });
  const isSame =
    changes.length === fact.changes.length && changes.every((one, at) => one === fact.changes[at]);
  return isSame ? fact : { ...fact, changes, reason: '' };
}

function withEvidence(
  text: LessonText,
  turns: readonly string[],
  isErased: (turn: string) => boolean,
): LessonText {
  const { context: _, ...note } = text.note;
  const quotes = text.evidence.quotes.filter(({ turn }) => !isErased(turn));
  return { ...text, note, evidence: { ...text.evidence, turns, quotes } };
}

/** The strings in a stored text: JSON, or plain. */
function stringsIn(text: string): readonly string[] {
  const value = parseJson(text);
  if (value === undefined) return [text];
  const strings: string[] = [];
  const visit = (one: Json | undefined): void => {
    if (typeof one === 'string') strings.push(one);
    else if (Array.isArray(one)) one.forEach(visit);
    else if (typeof one === 'object' && one !== null) Object.values(one).forEach(visit);
  };
  visit(value);
  return strings;
}

function cached<T>(read: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const value = known.get(key) ?? read(key);
    known.set(key, value);
    return value;
  };
}
