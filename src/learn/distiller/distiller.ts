import { asObject, parseJson } from '../../core/json.ts';
import type {
  CoveredByLesson,
  FailureCase,
  Learner,
  LearnInput,
  Proposal,
  TrajectoryStep,
} from '../../core/learn.ts';
import { isActive, type Lesson, type LessonText, type Note } from '../../core/lesson.ts';
import { keywordsOf } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { type CompareQuotes, type Likeness, UNKNOWN_LIKENESS } from '../compare-words.ts';
import {
  confidenceOf,
  draftLesson,
  importanceOf,
  rankFailures,
  reviseLesson,
  sharedScope,
  sourceTrust,
  uniqueLessonName,
} from '../draft-lesson.ts';
import { standsInEveryTask } from '../rule-reach.ts';
import { groupSayings, isEnough, isToldByPerson, type Sayings, sayingsIn } from './group-sayings.ts';
import {
  type ComparedLesson,
  createReadKnown,
  DISTILLER,
  findSameRule,
  isOwn,
  isTakenBack,
  isTold,
  lessonsNear,
  lessonsToRead,
  mayBeTakenIn,
  quotesToCompare,
} from './known-lessons.ts';
import { isTelling, readMatter } from './matter.ts';
import type { Saying } from './sayings.ts';
import { isNothingButRevocation } from './take-back.ts';
import {
  answerFor,
  isAskedByUser,
  readLesson,
  requestsOf,
  statesRule,
  triggersOf,
  writeFix,
  writeLesson,
} from './write-lesson.ts';

const MOST_QUOTES = 16;
const MOST_WORDINGS = 4;
/** As many as keep their words in the lesson that takes them in. */
const MOST_TAKEN_IN = 2;
const FIX_IMPORTANCE = 0.3;
/** A lesson is revised for its count alone at these numbers: each revision is a new text in prompts. */
const TELLING_COUNTS: ReadonlySet<number> = new Set([2, 3, 5, 10, 25]);

interface DistillerOptions {
  /** Per run. */
  readonly maxNewSkills?: number;
  readonly halfLifeDays?: number;
  /** Why the library would refuse a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
  /** Finds the same rule in other words. Without it only words are compared. */
  readonly compareQuotes?: CompareQuotes;
}

/**
 * Learns without a model: a lesson quotes what people and checks said, with the task that it was said about. Nothing is
 * rephrased, so a lesson cannot say the opposite of its evidence. It learns nothing from failures without words, except a
 * command that got past an error that came up again.
 */
export function createDistiller(options: DistillerOptions = {}): Learner<readonly FailureCase[]> {
  const { maxNewSkills = 10, halfLifeDays = 60, checkText } = options;
  const readKnown = createReadKnown();
  return {
    name: DISTILLER,
    async *learn(input) {
      const lessons = input.library.lessons();
      const taken = new Set(lessons.filter(isActive).map(({ text }) => text.name));
      let proposed = 0;
      const failures = rankFailures(input.material);
      const near = lessonsNear(failures, lessons);
      const groups = groupSayings(failures, input.material);
      const known =
        groups.length === 0 ? [] : readKnown(lessonsToRead(near, sayingsIn(failures, input.material)));
      const likeness = (await options.compareQuotes?.(quotesToCompare(groups, known))) ?? UNKNOWN_LIKENESS;
      for (const draft of draftsOf(failures, { near, known }, likeness, input)) {
        if (input.signal.aborted || proposed >= maxNewSkills) return;
        if ('known' in draft) {
          yield draft;
          continue;
        }
        if ('over' in draft) {
          for (const { id } of draft.over) yield retirementOf(id, draft.turns);
          continue;
        }
        const { old, merged = [], quotes, replaced } = draft;
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
            : merged.length === 0
              ? { op: 'revise', id, from: old.revision, text }
              : {
                  op: 'merge',
                  ids: [id, ...merged.map((one) => one.id)],
                  into: id,
                  from: old.revision,
                  text,
                };
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
  /** Lessons on the same rule that it takes in. */
  readonly merged?: readonly Lesson[];
  /** Lessons that it takes back. */
  readonly replaced?: readonly Lesson[];
}

function* draftsOf(
  failures: readonly FailureCase[],
  { near, known }: { readonly near: readonly Lesson[]; readonly known: readonly ComparedLesson[] },
  likeness: Likeness,
  { material, journal }: LearnInput<readonly FailureCase[]>,
): Generator<Draft | TakenBack | CoveredByLesson> {
  const groups = groupSayings(failures, material, likeness);
  const changed = new Set<Lesson>();
  for (const { sayings: group, takenBack } of groups) {
    const [{ quote }] = group;
    const turns = [...new Set(group.map(({ failure }) => failure.turn))];
    const open = known.filter(({ lesson }) => !changed.has(lesson));
    const holding = open.filter((one) => !isTakenBack(one, group[0]));
    // What has to be said again although a lesson on the matter was shown revises that lesson.
    const shown = new Set(group.flatMap(({ failure }) => failure.shown ?? []));
    const { alike, same: nearest } = findSameRule(holding, group, likeness, shown);
    const same = nearest !== undefined && hasNoRoomFor(group, nearest) ? undefined : nearest;
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
      const draft = draftGroup(group);
      yield { ...draft, failures: [...new Set([...draft.failures, ...takenBack])], replaced };
      continue;
    }
    const others = alike.filter((one) => one !== same && mayBeTakenIn(one, same)).slice(0, MOST_TAKEN_IN);
    const revised = isOwn(same.lesson) ? revise(same, group, others) : undefined;
    if (revised === undefined) {
      journal(`already known: ${truncateEnd(quote, 120)}`);
      yield { known: same.lesson.id, turns };
      continue;
    }
    // Other lessons that say nothing but what the new words take back.
    const replaced = open
      .filter((one) => one.quoted?.quotes.length === 1 && isTakenBack(one, group[0]))
      .map(({ lesson }) => lesson)
      .filter((lesson) => isToldByPerson(group) || !isTold(lesson));
    for (const lesson of [same.lesson, ...others.map((one) => one.lesson), ...replaced]) changed.add(lesson);
    yield { ...revised, replaced };
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

function draftGroup(group: Sayings): Draft {
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

/**
 * The lesson with what was said now and what the others on the same rule quote: undefined when that adds neither words nor a count
 * that tells something.
 */
function revise(
  { lesson, quoted }: ComparedLesson,
  group: Sayings,
  others: readonly ComparedLesson[],
): Draft | undefined {
  if (quoted === undefined) return undefined;
  const theirs = others.flatMap((one) => one.quoted ?? []);
  const known = new Set(quoted.quotes.map((quote) => readMatter(quote).print));
  const added = group.filter(({ matter }) => !known.has(matter.print));
  const isFull = quoted.quotes.length >= MOST_WORDINGS;
  const failures = [...new Set(group.map(({ failure }) => failure))].filter(
    ({ turn }) => !lesson.text.evidence.turns.includes(turn),
  );
  const count = theirs.reduce((sum, one) => sum + one.count, quoted.count) + failures.length;
  const isCounted = [...TELLING_COUNTS].some((telling) => quoted.count < telling && count >= telling);
  const [older] = quoted.quotes;
  // The newest words lead, unless they say less than the ones before.
  const before = readMatter(older).terms;
  const newest = added.find(
    ({ quote, isStanding, isCase, matter: { terms } }) =>
      (terms.size >= before.size || [...terms.keys()].some((term) => !before.has(term))) &&
      !isCase &&
      (isStanding || statesRule(quote) || !statesRule(older)),
  );
  const isLess = newest === undefined || isFull;
  const isMerged = theirs.length > 0;
  if (!isMerged && (failures.length === 0 || (isLess && (lesson.state === 'live' || !isCounted))))
    return undefined;
  const lead = isLess ? older : newest.quote;
  const leads = [quoted, ...theirs].map(({ quotes: [first] }) => first);
  const earlier = [...leads, ...[quoted, ...theirs].flatMap(({ quotes }) => quotes)];
  const said = newest === undefined || isLess ? [] : otherWordings(newest, group);
  const rest = isMerged ? [...earlier, ...said] : [...said, ...earlier];
  const tasks = [
    ...new Set([
      ...requestsOf(failures.filter(isAskedByUser)),
      ...[quoted, ...theirs].flatMap((one) => one.tasks),
    ]),
  ];
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
    triggers: triggersOf([
      ...requestsOf(failures),
      ...[lesson, ...others.map((one) => one.lesson)].flatMap(({ text }) => text.note.triggers ?? []),
    ]),
    ...(isMerged ? { merged: others.map((one) => one.lesson) } : {}),
    note: {
      source: note.source === 'told' ? 'told' : source,
      importance: Math.max(note.importance, importance),
    },
    old: lesson,
  };
}

/** Whether a lesson has as many wordings as it can have, and standing words say more than they do: those get a lesson of their own. */
function hasNoRoomFor(group: Sayings, { lesson, quoted, words }: ComparedLesson): boolean {
  if (quoted === undefined || quoted.quotes.length < MOST_WORDINGS || !isOwn(lesson)) return false;
  const known = words.flatMap(({ matters }) => matters.flatMap(({ terms }) => [...terms.keys()]));
  return group.some(
    ({ isStanding, matter: { terms } }) =>
      isStanding && [...terms.keys()].some((term) => isTelling(term) && !known.includes(term)),
  );
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

/** By the words that hold now. What a check says is about the work that it checks. */
const isForEveryTask = (words: Draft['words']): boolean => {
  const quoted = readLesson(words);
  return quoted?.speaker === 'user' && standsInEveryTask(quoted.quotes[0]);
};

function textOf(
  { words, failures, triggers, note, old, merged = [] }: Draft,
  name: string,
  halfLifeDays: number,
): LessonText {
  const text = draftLesson({
    ...words,
    name,
    category: 'general',
    scope: sharedScope(failures.map(({ scope }) => scope)),
    context: triggers[0],
    keywords: keywordsOf(`${words.description} ${words.content.split('\n> ').slice(1).join(' ')}`),
    triggers,
    ...note,
    confidence: confidenceOf(failures),
    halfLifeDays,
    ...(isForEveryTask(words) ? { isAlways: true } : {}),
    learner: DISTILLER,
    turns: failures.map(({ turn }) => turn),
  });
  return old === undefined ? text : reviseLesson([old.text, ...merged.map((one) => one.text)], text);
}

const FEWEST_SESSIONS = 2;
const LONGEST_COMMAND = 200;
const PLAIN = /^[A-Za-z][A-Za-z0-9_ -]{2,55}$/;

interface RepeatedFix {
  /** The kind of error, without file and line. */
  readonly error: string;
  /** The agent's command that succeeded afterwards. */
  readonly command: string;
  readonly failures: readonly FailureCase[];
}

/**
 * Errors of several sessions with the command that got past them in the end. Without one there is nothing to teach. Of a tool's
 * output only the name of the error is used.
 */
function findFixes(failures: readonly FailureCase[]): readonly RepeatedFix[] {
  const byKind = new Map<string, FailureCase[]>();
  for (const failure of failures)
    for (const kind of new Set(failure.appraisal.digests.map(kindOf))) {
      const seen = byKind.get(kind);
      if (seen === undefined) byKind.set(kind, [failure]);
      else seen.push(failure);
    }
  return [...byKind].flatMap(([error, seen]) => {
    const sessions = new Set(seen.map(({ session }) => session)).size;
    if (!PLAIN.test(error) || sessions < FEWEST_SESSIONS) return [];
    const commands = seen.flatMap(({ resolution = [] }) => resolution.flatMap(commandOf).slice(0, 1));
    const [command] = commands.toSorted((a, b) => timesOf(commands, b) - timesOf(commands, a));
    return command === undefined ? [] : [{ error, command, failures: seen }];
  });
}

const timesOf = (commands: readonly string[], one: string): number =>
  commands.filter((command) => command === one).length;

const kindOf = (digest: string): string => digest.split(' @ ', 1)[0]?.trim() ?? '';

/** The shell command of a call that succeeded. An edit is about one file and teaches nothing. */
function commandOf(step: TrajectoryStep): readonly string[] {
  if (step.kind !== 'call' || step.isOk !== true) return [];
  const { command, cmd } = asObject(parseJson(step.arguments));
  const given = command ?? cmd;
  const text = oneLine(Array.isArray(given) ? given.join(' ') : typeof given === 'string' ? given : '');
  return text === '' || text.length > LONGEST_COMMAND ? [] : [text];
}
