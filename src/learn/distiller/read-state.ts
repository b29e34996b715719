import { isImperative, namedSubject, withArticle } from './phrasing.ts';
import { include, mind, NOT_A_RULE, type Reader } from './read-omission.ts';
import type { Rule } from './rule.ts';

/** "The keys do not …" is about the work at hand; "Keys do not …" may state a convention. */
const DEFINITE = /^(?:the|your|this|that|these|those|its|their|some|most|\d+|it|they)\b/i;
/** Abilities and needs are facts and must not be turned into demands. */
const ABLE =
  /^(?:accept|support|allow|permit|tolerate|take|read|like|want|expect|parse|recogni[sz]e|handle|need|have to|require|trust|change|offer|let|mean|apply|count|cost|exist anymore)\b/i;
/** About every thing of a kind: a convention and no complaint. */
const STATED_CONVENTION =
  /^(?:our|an?|every|each|any|all|no) |\b(?:here|ever|at all|in our|with us|anymore|any more|by design|on purpose|in this (?:house|team|project|repo|repository|company))\b/i;

/** A negative statement, turned into a demand. */
const demand = (subject: string, what: string): Rule | undefined =>
  NOT_A_RULE.test(what) ||
  /\b(?:if|when|unless|that|which|where|because|so|while)\b/i.test(subject) ||
  /^(?:i|we|you)$/i.test(subject)
    ? undefined
    : { kind: 'lack', todo: `${namedSubject(subject)} ${what}` };

/** Sentences about what a thing is not or lacks. An imperative may contain such words in a subordinate clause. */
const STATES: readonly (readonly [RegExp, Reader])[] = [
  [
    /^(.{1,120}?) (?:is|are|was|were|['’]s)? ?(?:still )?(?:missing|absent|left out|omitted)$/i,
    ([, what = '']) => include(what),
  ],
  [
    /^(.{1,120}?) (?:is|are|was|were)? ?(?:still )?(?:missing|absent) ((?:from|in|at|on|before|after|for)\b.+)/i,
    ([, what = '', rest = '']) => include(what, ` ${rest}`),
  ],
  [
    /^(.{1,120}?) (?:is|are|was|were) (?:still )?missing (.+)/i,
    ([, subject = '', what = '']) => demand(subject, `must have ${withArticle(what)}`),
  ],
  [
    /^(.{1,120}?) (?:lacks?|is lacking|are lacking|has no|have no|had no|came without|comes? without) (.+)/i,
    ([whole, subject = '', what = '']) =>
      STATED_CONVENTION.test(whole) ? mind(whole) : demand(subject, `must have ${withArticle(what)}`),
  ],
  [
    /^(.{1,120}?) (does not|doesn['’]t|do not|don['’]t|did not|didn['’]t) (.+)/i,
    ([whole, subject = '', not = '', what = '']) => {
      if (NOT_A_RULE.test(what)) return undefined;
      const isGeneral = /^do/i.test(not) && !/^does/i.test(not) && !DEFINITE.test(subject);
      return isGeneral || ABLE.test(what) || STATED_CONVENTION.test(whole)
        ? mind(whole)
        : demand(subject, `must ${what}`);
    },
  ],
  [
    /^(.{1,120}?) (?:is not|isn['’]t|are not|aren['’]t|was not|wasn['’]t|were not|weren['’]t) (?!allowed|permitted|acceptable|ok\b|okay\b|to be\b|supposed|an option|necessary|needed|required)(.+)/i,
    ([whole, subject = '', what = '']) => {
      if (NOT_A_RULE.test(what)) return undefined;
      return STATED_CONVENTION.test(whole) ? mind(whole) : demand(subject, `must be ${what}`);
    },
  ],
  [
    /^(.{1,120}?) (?:has not been|hasn['’]t been|have not been|haven['’]t been) (.+)/i,
    ([, subject = '', what = '']) => demand(subject, `must be ${what}`),
  ],
  [
    /^(.{1,120}?) (?:exceeds?|is over|are over|is longer than|are longer than) (.+)/i,
    ([, subject = '', what = '']) => {
      const found = demand(subject, `must not exceed ${what}`);
      return found && { ...found, kind: 'ban' };
    },
  ],
];

/** A statement of a defect, turned into a demand. */
export function readState(said: string): Rule | undefined {
  if (isImperative(said)) return undefined;
  for (const [pattern, read] of STATES) {
    const match = pattern.exec(said);
    const rule = match === null ? undefined : read(match);
    if (rule !== undefined) return rule;
  }
  return undefined;
}
