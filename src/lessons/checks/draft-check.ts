import type { CheckedWork, CheckTest } from '../../core/check.ts';
import { type AcceptedCheck, acceptCheck, type CheckDraft, type CheckEvidence } from './accept-check.ts';
import { draftCommands, draftPaths } from './draft-commands.ts';
import { draftForms } from './draft-forms.ts';
import { draftWords } from './draft-words.ts';
import {
  type CheckSketch,
  escapePattern,
  materialOf,
  type RuleEvidence,
  type RuleMaterial,
  workOf,
} from './rule-material.ts';
import { readRule } from './rule-words.ts';
import { patternOf } from './test-text.ts';

const MOST_DRAFTS = 24;

/**
 * Checks that the words of a rule and the two answers suggest, the best first. Structure decides: a literal, one thing in place of another,
 * a form that the rule names and that changed between the answers. Where nothing of that is there, there is no draft.
 */
export function draftChecks(evidence: RuleEvidence): readonly CheckDraft[] {
  const material = materialOf(evidence);
  const sketches = [
    ...draftCommands(material),
    ...draftForms(material),
    ...draftPaths(material),
    ...draftWords(material),
  ];
  return sketches.flatMap((sketch) => scoped(sketch, material)).slice(0, MOST_DRAFTS);
}

/** The sketch as checks of their scope, the narrowest first. */
function scoped(sketch: CheckSketch, material: RuleMaterial): readonly CheckDraft[] {
  const { words } = material;
  const request = (material.corrected ?? material.revised)?.request;
  const scopes: (readonly string[])[] = [];
  if (words.condition !== undefined) {
    const met =
      request === undefined ? words.condition : words.condition.filter((word) => isInRequest(word, request));
    if (met.length > 0) scopes.push(met);
  }
  if (sketch.isDemand !== true) scopes.push([]);
  else if (words.condition === undefined) {
    const topics =
      request === undefined ? [] : words.topics.filter((word) => isInRequest(word, request)).slice(0, 2);
    if (topics.length > 0) scopes.push(topics);
    else if (words.isEverywhere) scopes.push([]);
  }
  return scopes.map((scope) => draftOf(sketch, scope));
}

const requestPattern = (word: string): string => `\\b${escapePattern(word)}`;

const isInRequest = (word: string, request: string): boolean =>
  patternOf(requestPattern(word), 'i').test(request);

function draftOf(
  { looksAt, about, holdsWhen, keeping, breaking }: CheckSketch,
  scope: readonly string[],
): CheckDraft {
  const asked = scope.map(
    (word): CheckTest => ({
      is: 'pattern',
      pattern: requestPattern(word),
      flags: 'i',
      in: 'request',
      means: `“${word}”`,
    }),
  );
  const check = { looksAt, appliesWhen: [...asked, ...about], holdsWhen, by: 'words' as const };
  if (keeping === undefined || breaking === undefined) return { check };
  const request = scope.join(' ');
  return {
    check,
    examples: { keeping: workOf(looksAt, keeping, request), breaking: workOf(looksAt, breaking, request) },
  };
}

/** The answers that a rule is not about: a rule without a condition is about all of them. */
export function outsideOf(rule: string, answers: readonly CheckedWork[]): readonly CheckedWork[] {
  const { condition } = readRule(rule);
  if (condition === undefined) return [];
  return answers.filter(({ request }) => !condition.every((word) => isInRequest(word, request)));
}

/** Drafts are tried in their order; the first that is accepted wins, and one with proof before a provisional one. */
export function chooseCheck(drafts: readonly CheckDraft[], evidence: CheckEvidence): AcceptedCheck {
  let refusal: AcceptedCheck = { ok: false, why: 'its words name nothing that a check could look for' };
  for (const draft of drafts) {
    const result = acceptCheck(draft, evidence);
    if (result.ok) return result;
    refusal = result;
  }
  return refusal;
}
