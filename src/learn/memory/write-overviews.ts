import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Change, Lesson, LessonText } from '../../core/lesson.ts';
import { linkLessonsBothWays } from '../../lessons/links.ts';
import { isOverview, memberIds, OVERVIEW_LEARNER, overviewContent } from '../../lessons/overviews.ts';
import type { NearLessonPair } from '../../lessons/similar/near-pairs.ts';
import { keywordsOf, topicWords } from '../../text/topic-words.ts';
import { readLesson } from '../distiller/write-lesson.ts';
import { uniqueLessonName } from '../draft-lesson.ts';
import { isInUse, type LessonFacts, mayRevise } from './kept-lessons.ts';

const LEAST_MEMBERS = 4;
/** Fewer are shown as they are. */
const LEAST_LEFT = 3;
const MOST_MEMBERS = 12;
const LONGEST_RULE = 300;
/** The limit of the evidence of a lesson. */
const MOST_EVIDENCE = 64;

interface OverviewInput {
  /** All lessons in use. */
  readonly lessons: readonly Lesson[];
  /** Pairs about one subject. */
  readonly near: readonly NearLessonPair[];
  /** Pairs that contradict each other, or may do so. */
  readonly opposed: Iterable<Pick<NearLessonPair, 'a' | 'b'>>;
  /** Lessons that leave use in the same run. */
  readonly gone: ReadonlySet<string>;
  /** Whether overviews are wanted; else those that there are go. */
  readonly isWanted: boolean;
  /** Whether an id was ever used: what a person retired is not written again. */
  readonly isKnown: (id: string) => boolean;
}

interface Member {
  readonly lesson: Lesson;
  /** The user's own sentence, one line. */
  readonly rule: string;
}

/**
 * Overviews of lessons about one subject: the members' own sentences, a line each, and nothing else, so that no overview can say what
 * nobody said. All members hold in the same place for the same readers, and none of them is in conflict. An overview rests on all
 * evidence of its members, and is erased with it; it is revised when they change, and goes when fewer than three are left.
 */
export function writeOverviews(input: OverviewInput, facts: LessonFacts): readonly Change[] {
  const { lessons, gone, isWanted } = input;
  const existing = lessons.filter(isOverview);
  if (!isWanted) return existing.filter(isOurs).map((one) => retire(one, 'overviews are switched off'));
  const members = new Map(eligible(input).map((one) => [one.lesson.id, one]));
  const neighbours = neighboursOf(input, members);
  const taken = new Set<string>();
  const changes: Change[] = [];
  for (const overview of existing) {
    if (!isOurs(overview) || !mayRevise(overview, facts)) {
      for (const id of memberIds(overview)) taken.add(id);
      continue;
    }
    const left = memberIds(overview).flatMap((id) => members.get(id) ?? []);
    const isNear = ({ lesson }: Member): boolean =>
      left.filter((one) => neighbours(one.lesson.id).has(lesson.id)).length * 2 >= left.length;
    const newer = [...members.values()].filter((one) => !left.includes(one) && !taken.has(one.lesson.id));
    const all = alike([...left, ...newer.filter(isNear)]).slice(0, MOST_MEMBERS);
    if (left.length < LEAST_LEFT || all.length < LEAST_LEFT) {
      changes.push(retire(overview, 'fewer than three of the lessons that it repeats are left'));
      continue;
    }
    for (const { lesson } of all) taken.add(lesson.id);
    const text = { ...overviewText(all), name: overview.text.name };
    if (!isDeepStrictEqual(text, overview.text))
      changes.push({ op: 'revise', id: overview.id, from: overview.revision, text });
  }
  const names = new Set(lessons.map(({ text }) => text.name));
  const leaders = [...members.values()].sort(
    (a, b) =>
      neighbours(b.lesson.id).size - neighbours(a.lesson.id).size || (a.lesson.id < b.lesson.id ? -1 : 1),
  );
  for (const leader of leaders) {
    if (taken.has(leader.lesson.id)) continue;
    const near = [...neighbours(leader.lesson.id)].flatMap((id) => members.get(id) ?? []);
    const all = alike([leader, ...near.filter(({ lesson }) => !taken.has(lesson.id))]).slice(0, MOST_MEMBERS);
    if (all.length < LEAST_MEMBERS) continue;
    const id = idOf(all);
    if (input.isKnown(id)) continue;
    for (const { lesson } of all) taken.add(lesson.id);
    const draft = overviewText(all);
    const text = { ...draft, name: uniqueLessonName(draft.name, names) };
    names.add(text.name);
    const state = all.every(({ lesson }) => lesson.state === 'live') ? 'live' : 'trial';
    changes.push({ op: 'add', id, kind: 'experience', state, text });
  }
  return changes.filter((change) => change.op !== 'revise' || !gone.has(change.id));
}

const isOurs = ({ pinned, frozen }: Lesson): boolean => !pinned && !frozen;

const retire = ({ id }: Lesson, reason: string): Change => ({ op: 'retire', id, reason });

/** Lessons that quote one line of the user, which says by itself what it is about, and that nothing contradicts. */
function eligible({ lessons, opposed, gone }: OverviewInput): readonly Member[] {
  const doubtful = new Set<string>();
  for (const { a, b } of opposed)
    if (!gone.has(a.id) && !gone.has(b.id)) for (const { id } of [a, b]) doubtful.add(id);
  const links = linkLessonsBothWays(lessons);
  return lessons.flatMap((lesson) => {
    const { id, kind, text, expiresAt } = lesson;
    const read = readLesson(text);
    const [rule = ''] = read?.quotes ?? [];
    const isPlain =
      isInUse(lesson) &&
      (kind === 'skill' || kind === 'experience') &&
      !isOverview(lesson) &&
      read?.speaker === 'user' &&
      read.answer === undefined &&
      text.overlay === undefined &&
      text.taint.length === 0 &&
      text.note.visibility !== 'private' &&
      text.note.isAlways !== true &&
      expiresAt === undefined;
    const isSafe =
      !gone.has(id) && !doubtful.has(id) && !links.of(id).some(({ type }) => type === 'contradicts');
    const isLine = rule.length > 0 && rule.length <= LONGEST_RULE && !rule.includes('\n');
    return isPlain && isSafe && isLine ? [{ lesson, rule }] : [];
  });
}

/** Lessons about the same: near in meaning, or linked. */
function neighboursOf(
  { near }: OverviewInput,
  members: ReadonlyMap<string, Member>,
): (id: string) => ReadonlySet<string> {
  const found = new Map<string, Set<string>>();
  const put = (from: string, to: string): void => {
    if (members.has(from) && members.has(to)) found.set(from, (found.get(from) ?? new Set()).add(to));
  };
  for (const { a, b } of near) {
    put(a.id, b.id);
    put(b.id, a.id);
  }
  const links = linkLessonsBothWays([...members.values()].map(({ lesson }) => lesson));
  for (const id of members.keys()) for (const { type, to } of links.of(id)) if (type === 'about') put(id, to);
  return (id) => found.get(id) ?? NONE;
}

const NONE: ReadonlySet<string> = new Set();

/** Those that are shown to the same readers as the first one, with different lines, as long as all of their evidence fits. */
function alike(all: readonly Member[]): readonly Member[] {
  const [first] = all;
  if (first === undefined) return [];
  const { scope, note } = first.lesson.text;
  const kept: Member[] = [];
  for (const one of all) {
    const { text } = one.lesson;
    if (!isDeepStrictEqual(text.scope, scope) || text.note.visibility !== note.visibility) continue;
    if (kept.some(({ rule }) => rule === one.rule)) continue;
    const { turns, quotes } = evidenceOf([...kept, one]);
    if (turns.length <= MOST_EVIDENCE && quotes.length <= MOST_EVIDENCE) kept.push(one);
  }
  return kept;
}

function evidenceOf(members: readonly Member[]): Pick<LessonText['evidence'], 'turns' | 'quotes'> {
  const all = members.map(({ lesson }) => lesson.text.evidence);
  const quotes = new Map(all.flatMap((one) => one.quotes).map((quote) => [JSON.stringify(quote), quote]));
  return { turns: [...new Set(all.flatMap(({ turns }) => turns))], quotes: [...quotes.values()] };
}

const idOf = (members: readonly Member[]): string => {
  const ids = members.map(({ lesson }) => lesson.id).sort();
  return `overview_${createHash('sha256').update(ids.join('\n')).digest('hex').slice(0, 20)}`;
};

/** In the order of their ids: the same members give the same text. */
function overviewText(unordered: readonly Member[]): LessonText {
  const members = [...unordered].sort((a, b) => (a.lesson.id < b.lesson.id ? -1 : 1));
  const rules = members.map(({ rule }) => rule);
  const notes = members.map(({ lesson }) => lesson.text.note);
  const [first] = members;
  const subject = subjectOf(rules);
  return {
    name: `overview-${subject.replace(/[^a-z0-9]+/g, '') || 'subject'}`,
    description: `What the user said about ${subject}, ${members.length} sentences.`,
    content: overviewContent(rules),
    scope: first?.lesson.text.scope ?? {},
    note: {
      keywords: keywordsOf(rules.join(' ')),
      tags: [],
      importance: Math.max(...notes.map(({ importance }) => importance)),
      confidence: Math.min(...notes.map(({ confidence }) => confidence)),
      source: 'inferred',
      visibility: first?.lesson.text.note.visibility ?? 'scoped',
      halfLifeDays: Math.min(...notes.map(({ halfLifeDays }) => halfLifeDays)),
      links: [],
      relations: members.map(({ lesson }) => ({ type: 'summarises', to: lesson.id })),
    },
    evidence: { ...evidenceOf(members), learner: OVERVIEW_LEARNER },
    taint: [],
  };
}

/** The word that most of the sentences have. */
function subjectOf(rules: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const rule of rules)
    for (const word of new Set(topicWords(rule)))
      if (word.length > 2 && word.length <= 40) counts.set(word, (counts.get(word) ?? 0) + 1);
  const [best] = [...counts].sort(
    (a, b) => b[1] - a[1] || b[0].length - a[0].length || (a[0] < b[0] ? -1 : 1),
  );
  return best?.[0] ?? 'one subject';
}
