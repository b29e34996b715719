import type { CoveredByLesson, FailureCase, Learner, LearnInput, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonSource, LessonText } from '../../core/lesson.ts';
import { keywordsOf } from '../../text/topic-words.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import {
  confidenceOf,
  importanceOf,
  mayScopesOverlap,
  rankFailures,
  sharedScope,
  uniqueLessonName,
} from '../draft-lesson.ts';
import { extractRules } from './extract-rules.ts';
import { findRepeatedErrors } from './repeated-errors.ts';
import {
  coversRule,
  isNovelRule,
  isSameRule,
  knowledgeOfLesson,
  mergeRules,
  type RuleGroup,
  type RuleKnowledge,
  type RuleObservation,
} from './rule-novelty.ts';
import { type SkillDraft, writeSkill } from './write-skill.ts';

const LEARNER = 'distiller';
const MOST_TURNS = 64;
const MOST_QUOTES = 16;
const ERROR_IMPORTANCE = 0.3;

interface DistillerOptions {
  /** Per run. */
  readonly maxNewSkills?: number;
  readonly halfLifeDays?: number;
  /** Why the library would refuse a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
}

/**
 * Learns without a model: explicit feedback of people and verifiers becomes skills in their own words, and repeated errors
 * become a checklist. It learns nothing from failures without feedback.
 */
export function createDistiller(options: DistillerOptions = {}): Learner<readonly FailureCase[]> {
  const { maxNewSkills = 10, halfLifeDays = 60, checkText } = options;
  return {
    name: LEARNER,
    async *learn(input) {
      const lessons = input.library.lessons();
      const taken = new Set(
        lessons
          .filter(({ state }) => state !== 'retired' && state !== 'rejected')
          .map(({ text }) => text.name),
      );
      const told = lessons.filter(({ state }) => state !== 'retired');
      let proposed = 0;
      for (const draft of draftsOf(rankFailures(input.material), told, input)) {
        if (input.signal.aborted || proposed >= maxNewSkills) return;
        if ('known' in draft) {
          yield draft;
          continue;
        }
        const name = draft.old?.text.name ?? uniqueLessonName(draft.skill.name, taken);
        const text = textOf(draft, name, halfLifeDays);
        const why = checkText?.(text);
        if (why === undefined) {
          taken.add(name);
          proposed++;
          yield { change: changeOf(draft, text, input.newId), quotes: draft.quotes };
        } else input.journal(`left out: ${name}: ${why}`);
      }
    },
  };
}

interface Draft {
  readonly skill: SkillDraft;
  readonly failures: readonly FailureCase[];
  readonly quotes: Proposal['quotes'];
  readonly source: LessonSource;
  readonly importance: number;
  /** The lesson that it revises. */
  readonly old?: Lesson;
}

function* draftsOf(
  failures: readonly FailureCase[],
  lessons: readonly Lesson[],
  { journal }: LearnInput<unknown>,
): Generator<Draft | CoveredByLesson> {
  const heard = failures.flatMap((failure) =>
    feedbackTexts(failure).flatMap((text) =>
      extractRules(text).map((rule): RuleObservation => ({ rule, failure })),
    ),
  );
  const groups = mergeRules(heard);
  const near =
    groups.length === 0
      ? []
      : lessons.filter((lesson) => failures.some(({ scope }) => mayScopesOverlap(scope, lesson.text.scope)));
  const candidates = near.map((lesson) => ({ lesson, said: knowledgeOfLesson(lesson) }));
  const revised = new Set<Lesson>();
  for (const group of groups) {
    const place = candidates.find(({ lesson, said }) => !revised.has(lesson) && teaches(lesson, said, group));
    const turns = [...new Set(group.flatMap(({ failure }) => failure?.turn ?? []))];
    if (place === undefined) yield draftRule(group);
    else if (place.lesson.state === 'rejected')
      journal(`left out: ${place.lesson.text.name} was rejected before`);
    else if (!isOwn(place.lesson) || !group.some((one) => isNovelRule(place.said, one))) {
      journal(`already known: ${truncateEnd(group[0].rule.todo, 120)}`);
      yield { known: place.lesson.id, turns };
    } else {
      revised.add(place.lesson);
      yield draftRule(
        [...newest(group, place.said), ...place.said.rules.map((rule): RuleObservation => ({ rule }))],
        place.lesson,
      );
    }
  }
  for (const { skill, failures: seen } of findRepeatedErrors(failures)) {
    const old = lessons.find(({ state, text }) => state !== 'rejected' && text.name === skill.name);
    if (old === undefined)
      yield { skill, failures: seen, quotes: [], source: 'experience', importance: ERROR_IMPORTANCE };
    else yield { known: old.id, turns: seen.map(({ turn }) => turn) };
  }
}

/** A rejected lesson blocks only the rules that it states; a lesson of another author must cover the whole group. */
const teaches = (lesson: Lesson, said: RuleKnowledge, group: RuleGroup): boolean =>
  lesson.state === 'rejected'
    ? group.every((one) => said.rules.some((rule) => isSameRule(rule, one.rule)) && !isNovelRule(said, one))
    : group.some(({ rule }) => isOwn(lesson) && said.rules.some((told) => isSameRule(told, rule))) ||
      group.every(({ rule }) => coversRule(said, rule));

const isOwn = ({ kind, frozen, text }: Lesson): boolean =>
  kind === 'skill' && !frozen && text.evidence.learner === LEARNER;

/** Observations that add something come first: they lead the revision. */
const newest = (group: RuleGroup, said: RuleKnowledge): RuleGroup => {
  const [first, ...rest] = [...group].sort(
    (a, b) => Number(isNovelRule(said, b)) - Number(isNovelRule(said, a)),
  );
  return first === undefined ? group : [first, ...rest];
};

function draftRule(group: RuleGroup, old?: Lesson): Draft {
  const failures = [...new Set(group.flatMap(({ failure }) => (failure === undefined ? [] : [failure])))];
  const quotes = group.flatMap(({ rule, failure }) => {
    const turn = failure?.turn;
    const isRecorded = (raw: string): boolean =>
      failure?.passages.some(({ text }) => text.includes(raw)) ?? false;
    return turn === undefined ? [] : rule.raw.filter(isRecorded).map((text) => ({ turn, text }));
  });
  return {
    skill: writeSkill(group),
    failures,
    quotes: quotes.slice(0, MOST_QUOTES),
    source: isToldByPerson(failures) ? 'told' : (old?.text.note.source ?? 'experience'),
    importance: importanceOf(failures),
    ...(old === undefined ? {} : { old }),
  };
}

/** A rule that was only said in the chat is no standing order: an agent with a key could have typed it. */
const isToldByPerson = (failures: readonly FailureCase[]): boolean =>
  failures.some(({ source }) => source === 'person' || source === 'verifier');

function textOf(
  { skill, failures, source, importance, old }: Draft,
  name: string,
  halfLifeDays: number,
): LessonText {
  const turns = [...new Set([...(old?.text.evidence.turns ?? []), ...failures.map(({ turn }) => turn)])];
  const context = truncateEnd(oneLine(failures[0]?.task ?? ''), 300);
  return {
    ...skill,
    name,
    scope: old?.text.scope ?? sharedScope(failures.map(({ scope }) => scope)),
    note: {
      ...(context === '' ? {} : { context }),
      keywords: keywordsOf(`${skill.description} ${skill.content.split('\n> ').slice(1).join(' ')}`),
      tags: old?.text.note.tags ?? [],
      importance,
      confidence: confidenceOf(failures),
      source,
      visibility: old?.text.note.visibility ?? 'scoped',
      halfLifeDays: old?.text.note.halfLifeDays ?? halfLifeDays,
      links: old?.text.note.links ?? [],
    },
    evidence: { turns: turns.slice(-MOST_TURNS), quotes: old?.text.evidence.quotes ?? [], learner: LEARNER },
    taint: old?.text.taint ?? [],
  };
}

const changeOf = ({ old }: Draft, text: LessonText, newId: (prefix: string) => string): Proposal['change'] =>
  old === undefined
    ? { op: 'add', id: newId('lesson'), kind: 'skill', state: 'proposed', text }
    : { op: 'revise', id: old.id, from: old.revision, text };

/** The reason that appraisal writes for a score: nobody's words. */
const SCORE_ALONE = /^\w+ gave -?[\d.e-]+$/;

/** Feedback of people and verifiers on a failure, and what was said in the chat, each text once. Never the output of tools. */
function feedbackTexts({ passages, appraisal }: FailureCase): readonly string[] {
  const told = passages.filter(
    ({ origin, isFeedback }) => origin === 'person' || origin === 'verifier' || isFeedback === true,
  );
  const signs = appraisal.signals.filter(
    ({ source, score, reason }) =>
      (source === 'person' || source === 'verifier') && score < 0.5 && !SCORE_ALONE.test(reason),
  );
  return [...new Set([...told.map(({ text }) => text), ...signs.map(({ reason }) => reason)])];
}
