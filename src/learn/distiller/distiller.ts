import type { CoveredByLesson, FailureCase, Learner, LearnInput, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonText, Note } from '../../core/lesson.ts';
import { keywordsOf } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import {
  confidenceOf,
  importanceOf,
  mayScopesOverlap,
  rankFailures,
  sharedScope,
  sourceTrust,
  uniqueLessonName,
} from '../draft-lesson.ts';
import { findFixes } from './find-fixes.ts';
import { groupSayings, isEnough, isToldByPerson, type Sayings } from './group-sayings.ts';
import { contradicts, coversMatter, isNearMatter, type Matter, readMatter, shareMatter } from './matter.ts';
import { mattersOf, type Saying } from './sayings.ts';
import { isNothingButRevocation, takesBack } from './take-back.ts';
import {
  answerFor,
  isAskedByUser,
  type QuotedLesson,
  readLesson,
  requestsOf,
  triggersOf,
  writeFix,
  writeLesson,
} from './write-lesson.ts';

const LEARNER = 'distiller';
const MOST_TURNS = 64;
const MOST_QUOTES = 16;
const MOST_WORDINGS = 4;
const FIX_IMPORTANCE = 0.3;
/** A lesson is revised for its count alone at these numbers: each revision is a new text in prompts. */
const TELLING_COUNTS: ReadonlySet<number> = new Set([2, 3, 5, 10, 25]);

interface DistillerOptions {
  /** Per run. */
  readonly maxNewSkills?: number;
  readonly halfLifeDays?: number;
  /** Why the library would refuse a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
}

/**
 * Learns without a model: a lesson quotes what people and checks said, with the task that it was said about. Nothing is
 * rephrased, so a lesson cannot say the opposite of its evidence. It learns nothing from failures without words, except a
 * command that got past an error that came up again.
 */
export function createDistiller(options: DistillerOptions = {}): Learner<readonly FailureCase[]> {
  const { maxNewSkills = 10, halfLifeDays = 60, checkText } = options;
  return {
    name: LEARNER,
    async *learn(input) {
      const lessons = input.library.lessons();
      const isInUse = ({ state }: Lesson): boolean => state !== 'retired' && state !== 'rejected';
      const taken = new Set(lessons.filter(isInUse).map(({ text }) => text.name));
      let proposed = 0;
      for (const draft of draftsOf(rankFailures(input.material), lessons, input)) {
        if (input.signal.aborted || proposed >= maxNewSkills) return;
        if ('known' in draft) {
          yield draft;
          continue;
        }
        if ('over' in draft) {
          for (const { id } of draft.over) yield retirementOf(id, draft.turns);
          continue;
        }
        const { old, quotes, replaced } = draft;
        const name = old?.text.name ?? uniqueLessonName(draft.words.name, taken);
        const text = textOf(draft, name, halfLifeDays);
        const why = checkText?.(text);
        if (why !== undefined) {
          input.journal(`left out: ${name}: ${why}`);
          continue;
        }
        taken.add(name);
        proposed++;
        const id = old?.id ?? input.newId('lesson');
        const change: Proposal['change'] =
          old === undefined
            ? { op: 'add', id, kind: 'skill', state: 'proposed', text }
            : { op: 'revise', id, from: old.revision, text };
        yield { change, quotes };
        const turns = draft.failures.map(({ turn }) => turn);
        for (const lesson of replaced ?? []) yield retirementOf(lesson.id, turns, id);
      }
    },
  };
}

/** Lessons that the user took back, without saying anything in their place. */
interface TakenBack {
  readonly over: readonly Lesson[];
  readonly turns: readonly string[];
}

const retirementOf = (id: string, turns: readonly string[], supersededBy?: string): Proposal => ({
  change: {
    op: 'retire',
    id,
    reason: 'the user has said otherwise since',
    ...(supersededBy === undefined ? {} : { supersededBy }),
  },
  quotes: [],
  turns,
});

interface Draft {
  readonly words: Pick<LessonText, 'name' | 'description' | 'content'>;
  readonly failures: readonly FailureCase[];
  readonly quotes: Proposal['quotes'];
  readonly triggers: readonly string[];
  readonly note: Pick<Note, 'source' | 'importance'>;
  /** The lesson that it revises. */
  readonly old?: Lesson;
  /** Lessons that it takes back. */
  readonly replaced?: readonly Lesson[];
}

/** A lesson of the library with what it is about. */
interface KnownLesson {
  readonly lesson: Lesson;
  /** Present for a lesson of this learner. */
  readonly quoted?: QuotedLesson;
  /** Of each quote, or of the whole text. */
  readonly matters: readonly (readonly Matter[])[];
}

function* draftsOf(
  failures: readonly FailureCase[],
  lessons: readonly Lesson[],
  { material, journal }: LearnInput<readonly FailureCase[]>,
): Generator<Draft | TakenBack | CoveredByLesson> {
  const groups = groupSayings(failures, material);
  const near = lessons
    .filter(({ state }) => state !== 'retired')
    .filter(({ text }) => failures.some(({ scope }) => mayScopesOverlap(scope, text.scope)));
  const known = groups.length === 0 ? [] : near.map(readKnown);
  const changed = new Set<Lesson>();
  for (const { sayings: group, takenBack } of groups) {
    const [{ quote }] = group;
    const turns = [...new Set(group.map(({ failure }) => failure.turn))];
    const open = known.filter(({ lesson }) => !changed.has(lesson));
    const holding = open.filter((one) => !isTakenBack(one, group[0]));
    // What has to be said again although a lesson on the matter was shown revises that lesson.
    const shown = new Set(group.flatMap(({ failure }) => failure.shown ?? []));
    const same =
      holding.find((one) => teaches(one, group[0])) ??
      holding.find((one) => shown.has(one.lesson.id) && isNear(one, group[0]));
    if (same?.lesson.state === 'rejected') {
      journal(`left out: ${same.lesson.text.name} was rejected before`);
      continue;
    }
    if (isNothingButRevocation(group[0])) {
      const over = open.filter((one) => isTakenBack(one, group[0]) && !isTold(one.lesson));
      for (const { lesson } of over) changed.add(lesson);
      const before = takenBack.map(({ turn }) => turn);
      yield { over: over.map(({ lesson }) => lesson), turns: [...turns, ...before] };
      continue;
    }
    if (same === undefined && !isEnough(group)) {
      journal(`waits until it is said again: ${truncateEnd(quote, 120)}`);
      continue;
    }
    if (same === undefined) {
      const replaced = open.filter((one) => isTakenBack(one, group[0])).map(({ lesson }) => lesson);
      const told = replaced.find((lesson) => isTold(lesson) && !isToldByPerson(group));
      if (told !== undefined) {
        journal(`left out: ${told.text.name} was told by a person and says otherwise`);
        continue;
      }
      for (const lesson of replaced) changed.add(lesson);
      const draft = draftLesson(group);
      yield { ...draft, failures: [...new Set([...draft.failures, ...takenBack])], replaced };
      continue;
    }
    const revised = isOwn(same.lesson) ? revise(same, group) : undefined;
    if (revised === undefined) {
      journal(`already known: ${truncateEnd(quote, 120)}`);
      yield { known: same.lesson.id, turns };
      continue;
    }
    changed.add(same.lesson);
    yield revised;
  }
  for (const { error, command, failures: seen } of findFixes(failures)) {
    const words = writeFix(error, command);
    const old = near.find(({ text }) => text.name === words.name);
    if (old !== undefined) yield { known: old.id, turns: seen.map(({ turn }) => turn) };
    else
      yield {
        words,
        failures: seen,
        quotes: [],
        triggers: triggersOf(requestsOf(seen)),
        note: { source: 'experience', importance: FIX_IMPORTANCE },
      };
  }
}

const isTold = ({ text }: Lesson): boolean => text.note.source === 'told';

const isOwn = ({ kind, frozen, text }: Lesson): boolean =>
  kind === 'skill' && !frozen && text.evidence.learner === LEARNER;

function readKnown(lesson: Lesson): KnownLesson {
  const quoted = lesson.text.evidence.learner === LEARNER ? readLesson(lesson.text) : undefined;
  const { description, content } = lesson.text;
  return quoted === undefined
    ? { lesson, matters: [[readMatter(`${description}\n${content}`)]] }
    : { lesson, quoted, matters: quoted.quotes.map(mattersOf) };
}

const teaches = ({ quoted, matters: known }: KnownLesson, { matter, matters }: Saying): boolean =>
  known.some((one) =>
    quoted === undefined ? one.some((text) => coversMatter(text, matter)) : shareMatter(one, matters),
  );

const isNear = ({ quoted, matters }: KnownLesson, { matter }: Saying): boolean =>
  quoted !== undefined &&
  matters.flat().some((one) => isNearMatter(one, matter) && !contradicts(matter, one));

/** Only the words that hold now can be taken back. */
const isTakenBack = ({ quoted, matters: [lead] }: KnownLesson, saying: Saying): boolean =>
  quoted !== undefined && lead !== undefined && takesBack(saying, { quote: quoted.quotes[0], matters: lead });

function draftLesson(group: Sayings): Draft {
  const [lead] = group;
  const failures = [...new Set(group.map(({ failure }) => failure))];
  const answer = answerFor(lead.quote, lead.failure);
  const words = writeLesson({
    speaker: lead.speaker,
    count: failures.length,
    quotes: [lead.quote, ...otherWordings(lead, group)],
    tasks: requestsOf(failures.filter(isAskedByUser)),
    ...(answer === undefined ? {} : { answer }),
  });
  return {
    words,
    failures,
    quotes: recordedQuotesOf(group),
    triggers: triggersOf(requestsOf(failures)),
    note: noteOf(group, failures),
  };
}

/** The lesson with what was said now: undefined when that adds neither words nor a count that tells something. */
function revise({ lesson, quoted }: KnownLesson, group: Sayings): Draft | undefined {
  if (quoted === undefined) return undefined;
  const known = new Set(quoted.quotes.map((quote) => readMatter(quote).print));
  const added = group.filter(({ matter }) => !known.has(matter.print));
  const isFull = quoted.quotes.length >= MOST_WORDINGS;
  const failures = [...new Set(group.map(({ failure }) => failure))].filter(
    ({ turn }) => !lesson.text.evidence.turns.includes(turn),
  );
  const count = quoted.count + failures.length;
  const isCounted = [...TELLING_COUNTS].some((telling) => quoted.count < telling && count >= telling);
  const [older] = quoted.quotes;
  // The newest words lead, unless they say less than the ones before.
  const before = readMatter(older).terms;
  const newest = added.find(
    ({ matter: { terms } }) =>
      terms.size >= before.size || [...terms.keys()].some((term) => !before.has(term)),
  );
  const isLess = newest === undefined || isFull;
  if (failures.length === 0 || (isLess && (lesson.state === 'live' || !isCounted))) return undefined;
  const lead = isLess ? older : newest.quote;
  const rest = isLess ? quoted.quotes : [...otherWordings(newest, group), ...quoted.quotes];
  const tasks = [...new Set([...requestsOf(failures.filter(isAskedByUser)), ...quoted.tasks])];
  const answer = isLess ? quoted.answer : answerFor(lead, newest.failure);
  const words = writeLesson({
    speaker: isToldByPerson(group) || quoted.speaker === 'user' ? group[0].speaker : quoted.speaker,
    count,
    quotes: [lead, ...new Set(rest.filter((quote) => quote !== lead))],
    tasks,
    ...(answer === undefined ? {} : { answer }),
  });
  const { source, importance } = noteOf(group, failures);
  const { note } = lesson.text;
  return {
    words,
    failures,
    quotes: recordedQuotesOf(group),
    triggers: triggersOf([...requestsOf(failures), ...(note.triggers ?? [])]),
    note: {
      source: note.source === 'told' ? 'told' : source,
      importance: Math.max(note.importance, importance),
    },
    old: lesson,
  };
}

/** What was said before the lead in other words, the newest first. Later words than the lead say less. */
const otherWordings = (lead: Saying, group: Sayings): readonly string[] => {
  const seen = new Set([lead.matter.print]);
  return group
    .filter(({ failure: { at } }) => at <= lead.failure.at)
    .filter(({ matter: { print } }) => !seen.has(print) && seen.add(print))
    .map(({ quote }) => quote)
    .slice(0, MOST_WORDINGS - 1);
};

const noteOf = (group: Sayings, failures: readonly FailureCase[]): Draft['note'] => ({
  source: isToldByPerson(group) ? 'told' : 'experience',
  importance: importanceOf(failures),
});

/** The quotes that stand in the passages as they were recorded. */
const recordedQuotesOf = (group: Sayings): Proposal['quotes'] =>
  group
    .toSorted((a, b) => sourceTrust(b.failure) - sourceTrust(a.failure))
    .flatMap(({ quote, failure: { turn, passages } }) =>
      quote
        .split('\n')
        .filter((line) => line.trim() !== '' && passages.some(({ text }) => text.includes(line)))
        .map((text) => ({ turn, text })),
    )
    .slice(0, MOST_QUOTES);

function textOf(
  { words, failures, triggers, note, old }: Draft,
  name: string,
  halfLifeDays: number,
): LessonText {
  const turns = [...new Set([...(old?.text.evidence.turns ?? []), ...failures.map(({ turn }) => turn)])];
  const before = old?.text.note;
  const [context] = triggers;
  return {
    ...words,
    name,
    category: 'general',
    scope: old?.text.scope ?? sharedScope(failures.map(({ scope }) => scope)),
    note: {
      ...(context === undefined ? {} : { context }),
      keywords: keywordsOf(`${words.description} ${words.content.split('\n> ').slice(1).join(' ')}`),
      tags: before?.tags ?? [],
      ...note,
      confidence: confidenceOf(failures),
      visibility: before?.visibility ?? 'scoped',
      halfLifeDays: before?.halfLifeDays ?? halfLifeDays,
      links: before?.links ?? [],
      ...(triggers.length === 0 ? {} : { triggers }),
      ...(before?.isAlways === true ? { isAlways: true } : {}),
    },
    evidence: { turns: turns.slice(-MOST_TURNS), quotes: old?.text.evidence.quotes ?? [], learner: LEARNER },
    taint: old?.text.taint ?? [],
  };
}
