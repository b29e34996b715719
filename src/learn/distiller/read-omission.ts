import { capital, isImperative, namedSubject, withArticle } from './phrasing.ts';
import type { Rule } from './rule.ts';
import { baseOf } from './verbs.ts';

type Reader = (match: RegExpExecArray) => Rule | undefined;

const WHO = "(?:you|it|the (?:agent|assistant|model|bot|script|run|reply))(?:['’]ve| have| has)?";
const NOT_A_RULE =
  /^(?:work|help|make sense|look(?! like)|seem|compile|pass|know|understand|matter|listen|care|want|like|think|believe|get it|see|(?:read|follow|answer) (?:the |my )?(?:task|instructions?|question|prompt)|do (?:it|this|that|what|as)|what|how|why|as asked|right|correct|good|enough|ok|okay|fine|quite|helpful|useful|acceptable|sure|done|finished|it\b)/i;

const include = (what: string, rest = ''): Rule => ({
  kind: 'lack',
  todo: `Include ${withArticle(what.trim())}${rest.replace(/^ from\b/, ' in')}`,
});

const doIt = (what: string): Rule | undefined =>
  NOT_A_RULE.test(what) ? undefined : { kind: 'lack', todo: capital(what) };

/** A sentence that says what is not so, turned into what has to be. */
const demand = (subject: string, what: string): Rule | undefined =>
  NOT_A_RULE.test(what) ||
  /\b(?:if|when|unless|that|which|where|because|so|while)\b/i.test(subject) ||
  /^(?:i|we|you)$/i.test(subject)
    ? undefined
    : { kind: 'lack', todo: `${namedSubject(subject)} ${what}` };

/** What someone did not do, or what is not there. */
const DEEDS: readonly (readonly [RegExp, Reader])[] = [
  [/^(?:do not|don['’]t|never) forget (?:that )?to (.+)/i, ([, what = '']) => doIt(what)],
  [/^(?:do not|don['’]t|never) forget (?:about )?(.+)/i, ([, what = '']) => include(what)],
  [/^(?:make sure|be sure|remember|take care)(?: always)? to (.+)/i, ([, what = '']) => doIt(what)],
  [
    new RegExp(`^(?:${WHO} )?(?:forgot|forgotten|neglected|failed|omitted) to (.+)`, 'i'),
    ([, what = '']) => doIt(what),
  ],
  [
    new RegExp(
      `^(?:${WHO} (?:don['’]t|do not|never|doesn['’]t|does not)|(?:${WHO} )?(?:didn['’]t|did not)) (.+)`,
      'i',
    ),
    ([whole, what = '']) => {
      const [verb = '', ...rest] = what.split(' ');
      const base = / never /i.test(whole) ? baseOf(verb) : verb;
      return base === undefined ? undefined : doIt([base, ...rest].join(' '));
    },
  ],
  [
    /^(?:you|it) (?:haven['’]t|have not|hasn['’]t|has not) (\w+) (.+)/i,
    ([, verb = '', rest = '']) => {
      const base = baseOf(verb);
      return base === undefined ? undefined : doIt(`${base} ${rest}`);
    },
  ],
  [
    new RegExp(`^(?:${WHO} )?(?:forgot|left out|omitted|missed|dropped|left off)(?: about)? (.+)`, 'i'),
    ([, what = '']) => include(what),
  ],
  [
    new RegExp(`^${WHO} skipped (.+)`, 'i'),
    ([, what = '']) => ({ kind: 'ban', todo: `Do not skip ${what}` }),
  ],
  [
    /^i (?:had|have) to ([^,]+?)(?: myself| by hand| again| for you)?(?:,.*)?$/i,
    ([, what = '']) => doIt(what),
  ],
  [/^why did(?:n['’]t you| you not) (.+)/i, ([, what = '']) => doIt(what)],
  [/^(?:where(?:['’]s| is| are)|what about|what happened to) (.+)/i, ([, what = '']) => include(what)],
  [/^there (?:is|are|was|were) (?:no|not any|n['’]t any) (.+)/i, ([, what = '']) => include(what)],
  [
    /^no (.{1,80}?) (?:was|were|is|are|has been|have been) (found|present|there|visible|given|made|written|created|added|set|included|recorded|provided|run|sent|taken)\b(.*)/i,
    ([, what = '', how = '', rest = '']) =>
      /^(?:found|present|there|visible)$/i.test(how)
        ? include(what, rest)
        : { kind: 'lack', todo: `${capital(withArticle(what))} must be ${how}${rest}` },
  ],
  [
    /^no (.{1,80}?) (?:found|present|given|provided)\b(.*)/i,
    ([, what = '', rest = '']) => include(what, rest),
  ],
  [/^(?:still )?missing[: ]+(.+)/i, ([, what = '']) => include(what)],
];

/** What something is not or has not. An order may hold such words in its own subordinate clauses. */
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
    ([, subject = '', what = '']) => demand(subject, `must have ${withArticle(what)}`),
  ],
  [
    /^(.{1,120}?) (?:does not|doesn['’]t|do not|don['’]t|did not|didn['’]t) (.+)/i,
    ([, subject = '', what = '']) => (NOT_A_RULE.test(what) ? undefined : demand(subject, `must ${what}`)),
  ],
  [
    /^(.{1,120}?) (?:is not|isn['’]t|are not|aren['’]t|was not|wasn['’]t|were not|weren['’]t) (?!allowed|permitted|acceptable|ok\b|okay\b|to be\b|supposed|an option)(.+)/i,
    ([, subject = '', what = '']) => (NOT_A_RULE.test(what) ? undefined : demand(subject, `must be ${what}`)),
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

/** What was left out or is not as it has to be, as what has to be done. */
export function readOmission(said: string): Rule | undefined {
  for (const [pattern, read] of isImperative(said) ? DEEDS : [...DEEDS, ...STATES]) {
    const match = pattern.exec(said);
    const rule = match === null ? undefined : read(match);
    if (rule !== undefined) return rule;
  }
  return undefined;
}
