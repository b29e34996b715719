import type { FailureCase } from '../../core/learn.ts';
import type { Lesson } from '../../core/lesson.ts';
import { findLiterals } from '../../text/literals.ts';
import { oneLine } from '../../text/visible-text.ts';
import { sourceTrust } from '../draft-lesson.ts';
import { type ExtractedRule, extractRules } from './extract-rules.ts';
import {
  hasLiteralShape,
  literalShapes,
  sharesLiteralShape,
  subjectStems,
  subjectWords,
} from './subject-terms.ts';

/** A rule and the failure whose feedback states it; without a failure, it comes from a lesson of the library. */
export interface RuleObservation {
  readonly rule: ExtractedRule;
  readonly failure?: FailureCase;
}

/** All observations of one rule, the most trusted and newest first. */
export type RuleGroup = readonly [RuleObservation, ...RuleObservation[]];

/** Groups rules that ask for the same; a demand and a prohibition are never the same. */
export function mergeRules(heard: readonly RuleObservation[]): readonly RuleGroup[] {
  const sorted = [...heard].sort(
    (a, b) => trust(b) - trust(a) || (b.failure?.at ?? 0) - (a.failure?.at ?? 0),
  );
  const groups: [RuleObservation, ...RuleObservation[]][] = [];
  for (const one of sorted) {
    const group = groups.find((others) =>
      others.some(({ rule, failure }) =>
        // Two rules in the same feedback are meant as two.
        failure === one.failure ? isRepeated(rule, one.rule) : isSameRule(rule, one.rule),
      ),
    );
    if (group === undefined) groups.push([one]);
    else group.push(one);
  }
  return groups;
}

const trust = ({ failure }: RuleObservation): number => (failure === undefined ? 0 : sourceTrust(failure));

const isRepeated = (a: ExtractedRule, b: ExtractedRule): boolean =>
  a.todo.toLowerCase() === b.todo.toLowerCase() || (isSameRule(a, b) && compare(a, b).likeness >= 0.5);

/** Whether two rules ask for the same in different words: compares their subject stems and their literals. */
export function isSameRule(a: ExtractedRule, b: ExtractedRule): boolean {
  if (forbids(a) !== forbids(b)) return false;
  if (a.todo.toLowerCase() === b.todo.toLowerCase()) return true;
  if (haveOtherSubjects(a.todo, b.todo)) return false;
  const { shared, fewest, likeness, isDistinctive } = compare(a, b);
  if (shared > 0 && sharesLiteralShape(a.marks, b.marks)) return true;
  if ([...a.marks].some((mark) => hasLiteralShape(b.marks, mark)))
    return shared > 0 && (shared === fewest || (shared > 1 && shared / fewest >= 0.3));
  if (!isDistinctive) return false;
  // Each has literals of its own: the same only if one replaces the other.
  if (a.ownMarks.size > 0 && b.ownMarks.size > 0) return likeness >= 0.7;
  if (a.ownMarks.size + b.ownMarks.size > 0) return shared > 1 && likeness >= 0.6;
  return (shared > 1 && likeness >= 0.5) || (shared > 2 && shared / fewest >= 0.6);
}

/** Stems too frequent in rules to be distinctive. */
const COMMON: ReadonlySet<string> = new Set(['file', 'new', 'line', 'edit', 'add', 'begin', 'end', 'name']);

function compare(a: ExtractedRule, b: ExtractedRule) {
  const both = [...a.stems].filter((stem) => b.stems.has(stem));
  const shared = both.length;
  return {
    isDistinctive: both.some((stem) => !COMMON.has(stem)),
    shared,
    fewest: Math.min(a.stems.size, b.stems.size),
    likeness: shared / (a.stems.size + b.stems.size - shared),
  };
}

/** "Never change a file before there is a copy" is a demand for the copy, not a prohibition. */
const forbids = ({ kind, todo }: ExtractedRule): boolean =>
  kind === 'ban' && !/\b(?:before|without|until|unless)\b/i.test(todo);

/** "File names must …" and "Column names must …" are different rules. */
function haveOtherSubjects(a: string, b: string): boolean {
  const [, ofA, whatA] = PAIR.exec(a) ?? [];
  const [, ofB, whatB] = PAIR.exec(b) ?? [];
  return (
    whatA !== undefined &&
    whatA.toLowerCase() === whatB?.toLowerCase() &&
    ofA?.toLowerCase() !== ofB?.toLowerCase()
  );
}

const PAIR =
  /^(?:all |our |the )?([a-z]+) ([a-z]+s) (?:must|should|shall|have|need|are|go|end|start|begin|belong)\b/i;

/** After this many wordings of a rule, another wording adds nothing. */
const MOST_WORDINGS = 3;
const COVERS = 0.7;

/** What a lesson or a set of rules says, for comparing a rule with it. */
export interface RuleKnowledge {
  readonly text: string;
  readonly stems: ReadonlySet<string>;
  readonly marks: ReadonlySet<string>;
  /** The rules that it was written from. */
  readonly rules: readonly ExtractedRule[];
}

/** A distilled skill quotes the feedback that it was written from. */
export function knowledgeOfLesson({ text }: Lesson): RuleKnowledge {
  const quoted = text.content.split('\n').filter((line) => line.startsWith('> '));
  return said(
    `${text.description}\n${text.content}`,
    quoted.flatMap((line) => extractRules(line.slice(2))),
  );
}

export const knowledgeOfRules = (rules: readonly ExtractedRule[]): RuleKnowledge =>
  said(rules.flatMap(({ todo, more, said: words }) => [todo, ...more, ...words]).join('\n'), rules);

const said = (text: string, rules: readonly ExtractedRule[]): RuleKnowledge => ({
  text: plain(text),
  stems: subjectStems(text),
  marks: literalShapes(text),
  rules,
});

const plain = (text: string): string => oneLine(text).replaceAll('`', '').toLowerCase();

/**
 * Whether a rule adds to what is known: a literal of another shape, another measure, code, or everything known and more. Another
 * example or case of the same rule adds nothing, and neither do terms of the task itself.
 */
export function isNovelRule(known: RuleKnowledge, { rule, failure }: RuleObservation): boolean {
  if (known.text.includes(plain(rule.todo))) return false;
  const task = failure?.task.toLowerCase() ?? '';
  const unsaid = [...rule.ownMarks].filter((mark) => !hasLiteralShape(known.marks, mark));
  if (unsaid.length > 0) {
    const given = literalShapes(task);
    if (unsaid.some((mark) => !hasLiteralShape(given, mark))) return true;
  }
  if (measuresIn(rule.todo).some((measure) => !known.text.includes(measure))) return true;
  if (rule.code !== undefined && !known.text.includes(plain(rule.code))) return true;
  if (known.rules.length >= MOST_WORDINGS) return false;
  const spoken = subjectStems(task);
  const isMore = [...rule.stems].some((stem) => !known.stems.has(stem) && !spoken.has(stem));
  return isMore && known.rules.some(({ stems }) => [...stems].every((stem) => rule.stems.has(stem)));
}

/** Whether a lesson of another author already covers a rule. */
export function coversRule(known: RuleKnowledge, { stems, marks, todo }: ExtractedRule): boolean {
  if (known.text.includes(plain(todo))) return true;
  if (![...marks].every((mark) => hasLiteralShape(known.marks, mark))) return false;
  const shared = [...stems].filter((stem) => known.stems.has(stem)).length;
  return marks.size > 0 && shared > 1 && shared / stems.size >= COVERS;
}

/** "80 characters", "2 spaces": numbers with their unit, outside of literals. */
function measuresIn(todo: string): readonly string[] {
  const spoken = findLiterals(todo).reduce((rest, literal) => rest.replace(literal, ' '), todo);
  return [...spoken.matchAll(/(?<![\w.,])(\d+) (\p{Ll}+)/gu)]
    .filter(([, , unit = '']) => subjectWords(unit).length > 0)
    .map(([measure]) => measure.toLowerCase());
}
