import type { CheckedPart, CheckedWork, CheckTest } from '../../core/check.ts';
import { acceptCheck, type CheckDraft, type CheckEvidence } from './accept-check.ts';
import { draftCommands, draftPaths } from './draft-commands.ts';
import { draftForms } from './draft-forms.ts';
import { draftWords } from './draft-words.ts';
import type { ReadCheck } from './read-check.ts';
import {
  type CheckSketch,
  openRuleMaterial,
  quotePattern,
  type RuleEvidence,
  type RuleMaterial,
  readRule,
} from './rule-material.ts';
import { runCheck } from './run-check.ts';
import { patternOf } from './test-text.ts';

const MOST_DRAFTS = 24;
/** Of the words that a judge is asked about. */
const LONGEST_ASKED = 300;

/**
 * Checks that the words of a rule and the two answers suggest, the best first. Structure decides: a literal, one thing in place of another,
 * a form that the rule names and that changed between the answers. Where nothing of that is there, there is no draft.
 */
export function draftChecks(evidence: RuleEvidence): readonly CheckDraft[] {
  const material = openRuleMaterial(evidence);
  const sketches = [
    ...draftCommands(material),
    ...draftForms(material),
    ...draftPaths(material),
    ...draftWords(material),
  ];
  return sketches
    .filter((sketch) => coversRule(sketch, material) && (!sketches.some(isLimit) || isLimit(sketch)))
    .flatMap((sketch) => scopesOf(sketch, material).map((scope) => draftOf(sketch, scope)))
    .slice(0, MOST_DRAFTS);
}

/** A rule with a limit asks for that at least. */
const isLimit = ({ holdsWhen }: CheckSketch): boolean => holdsWhen.some(({ is }) => is === 'length');

/** A check that sees one of two demands would call work "kept" that breaks the other; one that knows no exception is wrong there. */
function coversRule({ covers }: CheckSketch, { words }: RuleMaterial): boolean {
  if (covers === undefined) return true;
  const plain = (text: string): string => text.toLowerCase().replace(/[.,;:!?](?=\s|$)/g, '');
  const parts = covers.map(plain);
  return (
    !words.isQualified &&
    words.prohibitions.every((passage) =>
      parts.some((part) => plain(passage).includes(part) || part.includes(plain(passage))),
    )
  );
}

/** Where a sketch may apply, as words of the request, the best first. */
function scopesOf(
  { about, isDemand }: CheckSketch,
  { words, request }: RuleMaterial,
): readonly (readonly string[])[] {
  const met = (stems: readonly string[]): readonly string[] =>
    request === undefined ? [] : stems.filter((word) => isInRequest(word, request));
  const { condition, topics, isEveryAnswer } = words;
  const asked = condition === undefined ? [] : request === undefined ? condition : met(condition);
  const narrow = asked.length === 0 ? [] : [asked];
  if (isDemand !== true) return [...narrow, []];
  if (condition !== undefined) return narrow;
  const named = met(topics).slice(0, 2);
  if (named.length > 0) return [named];
  return isEveryAnswer || about.length > 0 ? [[]] : [];
}

const requestPattern = (word: string): string => `\\b${quotePattern(word)}`;

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
    examples: {
      keeping: exampleOf(looksAt, keeping, request),
      breaking: exampleOf(looksAt, breaking, request),
    },
  };
}

/** Work that consists of one text in the part that a check looks at. */
const exampleOf = (looksAt: CheckedPart, text: string | CheckedWork, request: string): CheckedWork =>
  typeof text !== 'string'
    ? { ...text, request }
    : {
        request,
        reply: looksAt === 'reply' || looksAt === 'work' ? text : '',
        files: looksAt === 'files' ? [{ path: 'example.ts', text }] : [],
        commands: looksAt === 'commands' ? [text] : [],
      };

/** Whether a rule is not about an answer: a rule without a condition is about all of them. */
export function createOutsideTest({
  rule,
  corrected,
  request = corrected?.request,
}: RuleEvidence): (work: CheckedWork) => boolean {
  const { condition } = readRule(rule, request);
  return (work) => condition !== undefined && !condition.every((word) => isInRequest(word, work.request));
}

/** For what no program can tell: the words of the rule, for a model that must quote. Only a real contrast proves it. */
export function draftJudge(evidence: RuleEvidence): CheckDraft {
  const material = openRuleMaterial(evidence);
  const asks = evidence.rule.slice(0, LONGEST_ASKED);
  const sketch: CheckSketch = { looksAt: 'work', about: [], holdsWhen: [{ is: 'judge', asks }] };
  const draft = draftOf(sketch, scopesOf(sketch, material)[0] ?? []);
  return { check: { ...draft.check, by: 'model' } };
}

/** Drafts are tried in their order; the first that is accepted wins, and one with proof before a provisional one. */
export async function chooseCheck(
  drafts: readonly CheckDraft[],
  evidence: CheckEvidence,
): Promise<ReadCheck> {
  let best: ReadCheck = { ok: false, why: 'its words name nothing that a check could look for' };
  for (const draft of drafts) {
    const result = await acceptCheck(draft, evidence);
    if (result.ok && result.check.standing === 'accepted') return result;
    if (!best.ok) best = result;
  }
  return best;
}

/**
 * A check from the words of a rule and the two answers. An answer that the rule is not about proves nothing: then the words alone are
 * tried, and what they give is refused where it calls the corrected answer kept or the revised one broken.
 */
export async function checkFromWords(rule: RuleEvidence, evidence: CheckEvidence): Promise<ReadCheck> {
  const { corrected, revised } = evidence;
  const proven = await chooseCheck(draftChecks(rule), evidence);
  if (proven.ok || corrected === undefined) return proven;
  const drafts = draftChecks({ rule: rule.rule, request: rule.request });
  const alone = await chooseCheck(drafts, { ...evidence, corrected: undefined, revised: undefined });
  if (!alone.ok || runCheck(alone.check, corrected).outcome !== 'does-not-apply') return proven;
  return revised !== undefined && runCheck(alone.check, revised).outcome === 'broken' ? proven : alone;
}
