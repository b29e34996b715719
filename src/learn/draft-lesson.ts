import type { RewardSource } from '../core/evidence.ts';
import { asArray, compact, isObject } from '../core/json.ts';
import type { Answer, EvidenceCase, LearnerFailure, Passage, Proposal } from '../core/learn.ts';
import type { Evidence, LessonText, Note, Scope } from '../core/lesson.ts';
import { isOwnedBy, NOBODY } from '../core/principal.ts';
import { copiedPattern } from '../text/copied-text.ts';
import { keywordsOf } from '../text/topic-words.ts';
import { truncateEnd } from '../text/truncate.ts';
import { oneLine } from '../text/visible-text.ts';

/** The name of the signal that a call of a turn proved its result: checks passed, or a command exited with 0. */
export const RESULT_PROVEN = 'result-proven';
/** The name of the signal that the attempts of an episode ended with one that worked, as the agent reported. */
export const ATTEMPT_WORKED = 'attempt-worked';

const MOST_CHARACTERS = 64;

/** The name, with a number appended if another lesson has it; never longer than a lesson name may be. */
export function uniqueLessonName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) {
    const end = `-${number}`;
    free = `${name.slice(0, MOST_CHARACTERS - end.length).replace(/-+$/, '')}${end}`;
  }
  return free;
}

const MOST_TURNS = 64;
const MOST_TRIGGERS = 8;
export const MOST_LINKS = 32;
const LONGEST_CONTEXT = 300;
const HALF_LIFE_DAYS = 60;

/** What a learner says of a lesson; the rest of its text is the same for all of them. */
interface LessonDraft
  extends Pick<LessonText, 'name' | 'description' | 'content' | 'category' | 'scope' | 'overlay'>,
    Pick<Note, 'importance' | 'confidence' | 'source'>,
    Partial<Pick<Note, 'tags' | 'links' | 'halfLifeDays' | 'isAlways' | 'tier'>>,
    Pick<Evidence, 'learner' | 'turns' | 'model' | 'prompt'> {
  /** What the agent was asked to do. */
  readonly context?: string | undefined;
  /** Absent: the most frequent words of the text. */
  readonly keywords?: readonly string[] | undefined;
  /** How tasks that need it may be worded. */
  readonly triggers?: readonly string[];
}

const LONGEST_SITUATION = 300;

/** When an experience helps, in one sentence. */
export const situationLine = (situation: string): string =>
  truncateEnd(oneLine(situation), LONGEST_SITUATION);

/** The text of a new lesson. */
export function draftLesson(draft: LessonDraft): LessonText {
  const { name, description, content, scope, learner } = draft;
  const triggers = [...new Set(draft.triggers ?? [])].slice(0, MOST_TRIGGERS);
  return {
    name,
    description,
    content,
    ...compact({ category: draft.category, overlay: draft.overlay }),
    scope,
    note: {
      ...compact({ context: truncateEnd(oneLine(draft.context ?? ''), LONGEST_CONTEXT) || undefined }),
      keywords: draft.keywords ?? keywordsOf(`${description} ${content}`),
      tags: draft.tags ?? [],
      importance: draft.importance,
      confidence: draft.confidence,
      source: draft.source,
      visibility: 'scoped',
      halfLifeDays: draft.halfLifeDays ?? HALF_LIFE_DAYS,
      links: draft.links ?? [],
      ...compact({
        triggers: triggers.length === 0 ? undefined : triggers,
        isAlways: draft.isAlways,
        tier: draft.tier,
      }),
    },
    evidence: {
      turns: [...new Set(draft.turns)].slice(-MOST_TURNS),
      quotes: [],
      learner,
      ...compact({ model: draft.model, prompt: draft.prompt || undefined }),
    },
    taint: [],
  };
}

/**
 * The newest words, with the name, the scope, the note and the evidence of the lesson that they revise, and the evidence of those that are
 * merged into it: a learner may improve a text, not widen its scope.
 */
export function reviseLesson(
  [old, ...merged]: readonly [LessonText, ...LessonText[]],
  text: LessonText,
  links: readonly string[] = [],
): LessonText {
  const before = [...merged, old];
  const turns = [...before, text].flatMap(({ evidence }) => evidence.turns);
  const triggers = [...new Set([...(text.note.triggers ?? []), ...(old.note.triggers ?? [])])];
  return {
    ...text,
    name: old.name,
    scope: old.scope,
    note: {
      ...text.note,
      tags: old.note.tags,
      source: text.note.source === 'told' ? 'told' : old.note.source,
      visibility: old.note.visibility,
      halfLifeDays: old.note.halfLifeDays,
      importance: Math.max(old.note.importance, text.note.importance),
      links: [...new Set([...old.note.links, ...links])].slice(0, MOST_LINKS),
      ...(triggers.length === 0 ? {} : { triggers: triggers.slice(0, MOST_TRIGGERS) }),
      ...(old.note.isAlways === true ? { isAlways: true } : {}),
    },
    evidence: {
      ...text.evidence,
      turns: [...new Set(turns)].slice(-MOST_TURNS),
      quotes: old.evidence.quotes,
    },
    taint: [...new Set([...before, text].flatMap(({ taint }) => taint))],
  };
}

const FIELDS = ['agent', 'project', 'runKind', 'domain'] as const;

/** The narrowest scope that includes all of them: a field in which two differ is left open. */
export function sharedScope(scopes: readonly Scope[]): Scope {
  const [first] = scopes;
  const shared: { -readonly [Field in keyof Scope]: Scope[Field] } = {};
  for (const field of FIELDS) {
    const value = first?.[field];
    if (value !== undefined && scopes.every((scope) => scope[field] === value)) shared[field] = value;
  }
  const member = first?.member;
  // What several members said is nobody's until it is moved to the team.
  if (scopes.some((scope) => scope.member !== member)) shared.member = NOBODY;
  else if (member !== undefined) shared.member = member;
  return shared;
}

/** Whether some work may be in both scopes. A pattern is taken to match anything. */
export const mayScopesOverlap = (a: Scope, b: Scope): boolean =>
  (isOwnedBy(a.member, b.member) || isOwnedBy(b.member, a.member)) &&
  FIELDS.every((field) => {
    const [one, other] = [a[field], b[field]];
    return (
      one === undefined || other === undefined || one === other || one.includes('*') || other.includes('*')
    );
  });

/** How much a failure verdict of each source counts. */
const WEIGHT: Readonly<Record<RewardSource, number>> = {
  verifier: 0.9,
  person: 0.8,
  chat: 0.7,
  judge: 0.6,
  signal: 0.4,
  agent: 0.2,
};

export const sourceTrust = ({ source }: EvidenceCase): number => WEIGHT[source];

/** The passage that is the task, and the others: a prompt that tells the task apart does not repeat it. */
export function separateTask(
  task: string,
  passages: readonly Passage[],
): { readonly first: Passage; readonly rest: readonly Passage[] } {
  const at = passages.findIndex(({ text }) => text === task);
  const found = passages[at];
  return found === undefined
    ? { first: { origin: 'user', text: task }, rest: passages }
    : { first: found, rest: passages.toSpliced(at, 1) };
}

/** The trust of the most trusted source. */
export const importanceOf = (cases: readonly EvidenceCase[]): number =>
  Math.max(0, ...cases.map(sourceTrust));

/** How certain the failures are: the mean of 1 − reward. A failure without a reward counts as 0.5. */
export function confidenceOf(cases: readonly EvidenceCase[]): number {
  if (cases.length === 0) return 0;
  const rewards = cases.map(({ appraisal }) => Math.min(1, Math.max(0, appraisal.reward ?? 0.5)));
  return 1 - rewards.reduce((sum, reward) => sum + reward, 0) / cases.length;
}

/** By trust, then newest first; one failure of each session before a second one of any session. */
export function rankFailures<Case extends EvidenceCase>(cases: readonly Case[]): readonly Case[] {
  const ranked = cases
    .filter(
      ({ appraisal: { verdict, remark } }) =>
        verdict === 'failure' || verdict === 'ambiguous' || remark !== undefined,
    )
    .sort((a, b) => sourceTrust(b) - sourceTrust(a) || b.at - a.at);
  const sessions = new Set<string>();
  const turns = new Set<string>();
  const firsts: Case[] = [];
  const rest: Case[] = [];
  for (const failure of ranked) {
    if (turns.has(failure.turn)) continue;
    turns.add(failure.turn);
    (sessions.has(failure.session) ? rest : firsts).push(failure);
    sessions.add(failure.session);
  }
  return [...firsts, ...rest];
}

const SHORTEST_QUOTE = 8;
const LONGEST_QUOTE = 600;

/** Everything of a failure that a learner was shown, and may quote. */
export const quotableTexts = ({
  task,
  passages,
  trajectory = [],
  resolution = [],
}: EvidenceCase): readonly string[] => [
  ...passages.map(({ text }) => text),
  task,
  ...[...trajectory, ...resolution].flatMap((step) =>
    step.kind === 'message' ? [step.text] : [step.arguments, step.result ?? ''],
  ),
];

/** The recorded passage that a model quoted; what is no copy proves nothing. */
export function findQuote(quoted: string, texts: readonly string[]): string | undefined {
  const { length } = quoted.trim().replace(/\s+/g, ' ');
  if (length < SHORTEST_QUOTE || length > LONGEST_QUOTE) return undefined;
  const pattern = copiedPattern(quoted);
  for (const text of texts) {
    const passage = pattern?.exec(text)?.[0];
    if (passage !== undefined) return passage;
  }
  return undefined;
}

/** What people and verifiers said about a failure, letter by letter: their feedback, and their corrections in the chat. */
export function wordsAbout({ passages, appraisal }: EvidenceCase): readonly Passage[] {
  const told = passages.filter(
    ({ origin, isFeedback }) => origin === 'person' || origin === 'verifier' || isFeedback === true,
  );
  const corrected = (appraisal.correction?.quotes ?? []).map((text): Passage => ({ origin: 'user', text }));
  return [...new Map([...told, ...corrected].map((one) => [one.text.trim(), one])).values()].filter(
    ({ text }) => text.trim() !== '',
  );
}

/** Quotes in a model's reply or a proposal. They are evidence, not the lesson: one of the wrong shape is dropped. */
export const readQuotes = (value: unknown, most: number): Proposal['quotes'] =>
  asArray(value)
    .slice(0, most)
    .flatMap((quote) => {
      if (!isObject(quote)) return [];
      const { turn, text } = quote;
      return typeof turn === 'string' && typeof text === 'string' ? [{ turn, text }] : [];
    });

/** The quotes that were really recorded, as they were recorded. One without a turn is looked for in all of them. */
export const recordedQuotes = (
  quotes: readonly { readonly turn?: string; readonly text: string }[],
  cases: readonly EvidenceCase[],
): Proposal['quotes'] =>
  quotes.flatMap(({ turn, text }) => {
    for (const one of cases) {
      const found = turn === undefined || turn === one.turn ? findQuote(text, quotableTexts(one)) : undefined;
      if (found !== undefined) return [{ turn: one.turn, text: found }];
    }
    return [];
  });

/** A question without an answer, as a learner reports it: in words for people, with the name of the model. */
export function stuckBy(answer: Answer<unknown> & { readonly ok: false }): LearnerFailure {
  const { why, isRetryable, cause, model } = answer;
  const named = { isRetryable, ...(cause === undefined ? {} : { cause }) };
  if (model === undefined || cause === 'budget') return { stuck: why, ...named };
  const stuck =
    cause === 'model'
      ? `${model} gave no answer (${why})`
      : why.replace(/^the model's reply/, `the reply of ${model}`);
  return { stuck, ...named };
}
