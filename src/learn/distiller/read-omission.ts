import { capital, withArticle } from './phrasing.ts';
import type { Rule } from './rule.ts';
import { baseOf } from './verbs.ts';

export type Reader = (match: RegExpExecArray) => Rule | undefined;

const WHO = "(?:you|it|the (?:agent|assistant|model|bot|script|run|reply))(?:['’]ve| have| has)?";
export const NOT_A_RULE =
  /^(?:work|help|make sense|look(?! like)|seem|agree|tally|add up|correspond|match (?:what|with|up)|compile|pass|know|understand|matter|listen|care|want|like|think|believe|get it|see|(?:read|follow|answer) (?:the |my )?(?:task|instructions?|question|prompt)|do (?:it|this|that|what|as)|what|how|why|as asked|right|correct|good|enough|ok|okay|fine|quite|helpful|useful|acceptable|sure|done|finished|it\b)/i;

/** For sentences that may describe the present or the wanted state: the reader decides. */
export const mind = (said: string): Rule => ({ kind: 'do', todo: `Mind this: ${capital(said)}` });

export const include = (what: string, rest = ''): Rule => ({
  kind: 'lack',
  todo: `Include ${withArticle(what.trim())}${rest.replace(/^ from\b/, ' in')}`,
});

const doIt = (what: string): Rule | undefined =>
  NOT_A_RULE.test(what) ? undefined : { kind: 'lack', todo: capital(what) };

/** Sentences about something that was not done or is missing. */
const DEEDS: readonly (readonly [RegExp, Reader])[] = [
  [/^(?:do not|don['’]t|never) forget (?:that )?to (.+)/i, ([, what = '']) => doIt(what)],
  [/^(?:do not|don['’]t|never) forget (?:about )?(.+)/i, ([, what = '']) => include(what)],
  [/^(?:make sure|be sure|remember|take care)(?: always)? to (.+)/i, ([, what = '']) => doIt(what)],
  [
    new RegExp(`^(?:${WHO} )?(?:forgot|forgotten|neglected|failed|omitted) to (.+)`, 'i'),
    ([, what = '']) => doIt(what),
  ],
  [
    /^you (?:don['’]t|do not) (.+)/i,
    ([whole, what = '']) => (NOT_A_RULE.test(what) ? undefined : mind(whole)),
  ],
  [new RegExp(`^(?:${WHO} )?(?:didn['’]t|did not) (.+)`, 'i'), ([, what = '']) => doIt(what)],
  [
    new RegExp(`^${WHO} never (\\w+) (.+)`, 'i'),
    ([, verb = '', rest = '']) => {
      const base = baseOf(verb);
      return base === undefined ? undefined : doIt(`${base} ${rest}`);
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

/** An omission, turned into a demand. */
export function readOmission(said: string): Rule | undefined {
  for (const [pattern, read] of DEEDS) {
    const match = pattern.exec(said);
    const rule = match === null ? undefined : read(match);
    if (rule !== undefined) return rule;
  }
  return undefined;
}
