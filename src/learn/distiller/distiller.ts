import type { FailureCase, Learner, LearnInput, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonSource, LessonText } from '../../core/lesson.ts';
import { cutEnd, oneLine } from '../plain-text.ts';
import { doScopesMeet, sharedScope } from '../shared-scope.ts';
import { confidenceOf, importanceOf, rankFailures } from '../weigh-failures.ts';
import { keywordsOf } from '../words.ts';
import { feedbackOf } from './feedback.ts';
import { type HeardRule, isSameRule, mergeRules, type RuleGroup } from './merge-rules.ts';
import { freeName } from './name-skill.ts';
import { findRepeatedErrors } from './repeated-errors.ts';
import { rulesIn } from './rules-in.ts';
import { type WrittenSkill, writeSkill } from './write-skill.ts';

const LEARNER = 'distiller';
const MOST_TURNS = 64;
const MOST_QUOTES = 16;
const ERROR_IMPORTANCE = 0.3;

export interface DistillerOptions {
  /** In one run. */
  readonly maxNewSkills?: number;
  readonly halfLifeDays?: number;
  /** Why the library would not take a text. */
  readonly checkText?: (text: LessonText) => string | undefined;
}

/**
 * Learns without a model: what people and verifiers said in so many words becomes skills in their words, and errors that
 * come again become a list of what to check. Of failures that nobody said anything about it learns nothing.
 */
export function createDistiller(options: DistillerOptions = {}): Learner<readonly FailureCase[]> {
  const { maxNewSkills = 10, halfLifeDays = 60, checkText } = options;
  return {
    name: LEARNER,
    async *learn(input) {
      const lessons = input.library.lessons();
      const active = lessons.filter(({ state }) => state !== 'retired' && state !== 'rejected');
      const taken = new Set(active.map(({ text }) => text.name));
      let proposed = 0;
      for (const draft of draftsOf(rankFailures(input.material), active, input)) {
        if (input.signal.aborted || proposed >= maxNewSkills) return;
        const name = draft.old?.text.name ?? freeName(draft.skill.name, taken);
        if (name === undefined || wasRefused(draft.skill, lessons)) {
          input.journal(`left out: ${draft.skill.name} was refused before, or its name is used up`);
          continue;
        }
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
  readonly skill: WrittenSkill;
  readonly failures: readonly FailureCase[];
  readonly quotes: Proposal['quotes'];
  readonly source: LessonSource;
  readonly importance: number;
  /** The lesson that it says better. */
  readonly old?: Lesson;
}

function* draftsOf(
  failures: readonly FailureCase[],
  active: readonly Lesson[],
  { journal }: LearnInput<unknown>,
): Generator<Draft> {
  const heard = failures.flatMap((failure) =>
    feedbackOf(failure).flatMap((text) => rulesIn(text).map((rule): HeardRule => ({ rule, failure }))),
  );
  const groups = mergeRules(heard);
  const near =
    groups.length === 0
      ? []
      : active.filter((lesson) => failures.some(({ scope }) => doScopesMeet(scope, lesson.text.scope)));
  const contents = near.map(({ text }) => plain(text.content));
  const own = new Map(near.filter(isOwn).map((lesson) => [lesson, rulesSaid(lesson)]));
  for (const group of groups) {
    if (group.every(({ rule }) => contents.some((content) => content.includes(plain(rule.todo))))) {
      journal(`known already: ${cutEnd(group[0].rule.todo, 120)}`);
      continue;
    }
    const [old, rules = []] =
      [...own].find(([, said]) => said.some(({ rule }) => isSameRule(rule, group[0].rule))) ?? [];
    if (old !== undefined) own.delete(old);
    yield draftRule([...group, ...rules], old);
  }
  for (const { skill, failures: seen } of findRepeatedErrors(failures)) {
    if (active.some(({ text }) => text.name === skill.name)) continue;
    yield { skill, failures: seen, quotes: [], source: 'experience', importance: ERROR_IMPORTANCE };
  }
}

const isOwn = ({ kind, frozen, text }: Lesson): boolean =>
  kind === 'skill' && !frozen && text.evidence.learner === LEARNER;

/** The words that a skill of ours was made of stand in it, so that it can be made again with new ones. */
const rulesSaid = ({ text }: Lesson): readonly HeardRule[] =>
  text.content
    .split('\n')
    .filter((line) => line.startsWith('> '))
    .flatMap((line) => rulesIn(line.slice(2)).map((rule): HeardRule => ({ rule })));

const plain = (text: string): string => oneLine(text).replaceAll('`', '').toLowerCase();

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
    source: 'told',
    importance: importanceOf(failures),
    ...(old === undefined ? {} : { old }),
  };
}

/** A person who said no to this text is not asked again. */
const wasRefused = (skill: WrittenSkill, lessons: readonly Lesson[]): boolean =>
  lessons.some(({ state, text }) => state === 'rejected' && text.content === skill.content);

function textOf(
  { skill, failures, source, importance, old }: Draft,
  name: string,
  halfLifeDays: number,
): LessonText {
  const turns = [...new Set([...(old?.text.evidence.turns ?? []), ...failures.map(({ turn }) => turn)])];
  const context = cutEnd(oneLine(failures[0]?.task ?? ''), 300);
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
