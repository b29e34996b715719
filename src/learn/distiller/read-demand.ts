import { capital, isImperative } from './phrasing.ts';
import type { Reader } from './read-omission.ts';
import type { Rule } from './rule.ts';
import { baseOf, isVerb } from './verbs.ts';

const ADDRESSEE = '(?:you|we|one|everyone|(?:the |an? |all )?(?:agents?|assistants?|bots?))';
const MODAL =
  "(?:must|should|shall|need to|needs to|have to|has to|ought to|are to|is to|are expected to|are required to|['’]?re supposed to|are supposed to|['’]d better|had better)";
export const JUDGED =
  /\b(?:wrong|broken|bad|incorrect|poor|useless|sloppy|mess|ugly|terrible|unacceptable|nonsense|failing|failed|invalid|confus\w+|disappoint\w+)\b/i;

const order = (todo: string): Rule => ({ kind: 'do', todo: capital(todo) });
const ban = (todo: string): Rule => ({ kind: 'ban', todo: capital(todo) });

/** Verbs after "we" that report instead of demanding. */
const NO_DEED =
  /^(?:are|were|was|had|have|did|do|can|could|may|might|will|would|know|think|believe|see|saw|went|got|found|like|hope|all|both|each)$|ed$/i;

const READERS: readonly (readonly [RegExp, Reader])[] = [
  [
    /^(?:do not|don['’]?t) (?!worry|know|think|care|mind|bother)(.+)/i,
    ([, what = '']) => ban(`do not ${what}`),
  ],
  [/^(?:never|avoid|stop|refrain from|no more) .+/i, ([whole]) => ban(whole)],
  [
    /^you (?:should(?:n['’]t| not) have|had no reason to have) (\w+) (.+)/i,
    ([, verb = '', rest = '']) => {
      const base = baseOf(verb);
      return base === undefined ? undefined : ban(`do not ${base} ${rest}`);
    },
  ],
  [
    /^you (?:should|could)(?: have|['’]ve) (?:also |always )?(\w+) (.+)/i,
    ([, verb = '', rest = '']) => {
      const base = baseOf(verb);
      return base === undefined ? undefined : order(`${base} ${rest}`);
    },
  ],
  [/^why did you (\w+ .+)/i, ([, what = '']) => ban(`do not ${what}`)],
  [
    new RegExp(
      `^${ADDRESSEE} (?:must not|mustn['’]t|should not|shouldn['’]t|may not|cannot|can['’]t|can not|are not to) (.+)`,
      'i',
    ),
    ([, what = '']) => ban(`do not ${what}`),
  ],
  [new RegExp(`^${ADDRESSEE} (?:${MODAL} )?never (.+)`, 'i'), ([, what = '']) => ban(`never ${what}`)],
  [
    new RegExp(`^${ADDRESSEE} ${MODAL} (?:not (.+)|(.+))`, 'i'),
    ([, not, what = '']) => (not === undefined ? order(what) : ban(`do not ${not}`)),
  ],
  [
    /^you (?:were|was|are) (?:supposed|meant|asked|told|expected|required) (not )?to (.+)/i,
    ([, not, what = '']) => (not === undefined ? order(what) : ban(`do not ${what}`)),
  ],
  [/^you need (.+)/i, ([, what = '']) => order(`include ${what}`)],
  [/^we (?:do not|don['’]t) (.+)/i, ([, what = '']) => ban(`do not ${what}`)],
  [
    /^we ((?:always |only |usually |normally |generally )?(\w+) .+)/i,
    ([, what = '', verb = '']) =>
      isVerb(verb) || (/\b(?:each|every|all)\b/i.test(what) && !NO_DEED.test(verb)) ? order(what) : undefined,
  ],
  [
    /^(?:the|our|my) (?:first|last|final|next) (?:step|thing|act|task|duty)\b.{0,120}? (?:is|are|must be|should be|has to be) to \w+ .+/i,
    ([whole]) => order(whole),
  ],
  [/^(?:could|can|would|will) you (?:please )?(?:also )?(\w+ .+)/i, ([, what = '']) => order(what)],
  [
    /^(?:i|we) (?:do not|don['’]t|never) (?:want|like|need|expect)(?: to (?:see|have|get|read|find))? (you to )?(.+)/i,
    ([, isDeed, what = '']) =>
      ban(isDeed === undefined ? `no ${what.replace(/^any /i, '')}` : `do not ${what}`),
  ],
  [
    /^(?:i|we) (?:want|need|expect|['’]d like|would like|['’]d ask|ask) you (?:to|not to) .+/i,
    ([whole]) => {
      const at = / to /i.exec(whole)?.index ?? 0;
      const what = whole.slice(at + 4);
      return / not to /i.test(whole) ? ban(`do not ${what}`) : order(what);
    },
  ],
  [/^(?:i|we) (?:['’]d )?(?:really |much )?prefer (.+)/i, ([, what = '']) => order(`prefer ${what}`)],
  [
    /^(?:i|we|the team|the client|the customer|the user) (?:want|wants|need|needs|expects?|wanted|needed|expected|asked for|['’]d like|would like|likes?) (.+)/i,
    ([, what = '']) => order(`deliver what is wanted: ${what}`),
  ],
  [
    /^(?:our|the|my|house) (?:[\w-]+ ){0,3}(?:convention|rule|policy|standard|practice|guideline|requirement)(?: here)? (?:is|says) to (.+)/i,
    ([, what = '']) => order(what),
  ],
];

const FORBIDS =
  /\b(?:must|should|shall|may|can|need|ought to|has to|have to)(?:\s+not|n['’]t)\b|\bcannot\b|\b(?:must|should|is|are|shall) never\b|\bnot (?:allowed|permitted|acceptable|an option|ok|okay)\b|\b(?:forbidden|prohibited|banned|disallowed|off[- ]limits|taboo)\b/i;
const DEMANDS =
  /\b(?:must|should|shall|has to|have to|needs?|wants?|ought to|requires?|required|mandatory|is to be|are to be|supposed to|may only|can only|obligatory|compulsory)\b/i;
const CONVENTION =
  /\b(?:is|are|gets?|comes?) (?:always|only|written|given|stored|kept|named|called|sorted|ordered|separated|delimited|formatted|indented|measured|counted|rounded|quoted|spell?ed|spelt|prefixed|suffixed|fixed|set|defined|expressed|listed|put|placed|made|done|in|on|at|as|with|by|under|without|for|before|after|two|three|four|\d)\b|\b(?:go(?:es)?|belongs?|lives?|starts?|begins?|ends?|comes?|uses?|carry|carries|takes?) (?:in|into|on|at|to|under|with|by|as|before|after|first|last|an?|the|only|always|from|below|above|without|within|per)\b/i;
const LABELLED =
  /^[^:=]{0,60}\b(?:format|pattern|template|convention|naming|name|syntax|order|units?|encoding|spelling|separator|delimiter|structure|layout|style)\s*(?:is|:|=)\s*\S/i;

/** A sentence that demands, forbids, or states a convention. */
export function readDemand(said: string): Rule | undefined {
  for (const [pattern, read] of READERS) {
    const match = pattern.exec(said);
    const rule = match === null ? undefined : read(match);
    if (rule !== undefined) return rule;
  }
  if (/^(?:i|i['’]m|i['’]ll|i['’]d)\s/i.test(said)) return undefined;
  if (FORBIDS.test(said)) return ban(said);
  const past = said.replace(/\bshould(?: have|['’]ve) (been|had)\b/i, (_, was: string) =>
    /been/i.test(was) ? 'must be' : 'must have',
  );
  if (past !== said) return order(past);
  if (DEMANDS.test(said) && !/^(?:this|that|it) should (?:work|do|be (?:easy|simple|obvious))/i.test(said))
    return order(said);
  if (
    /^(?:always|only|just|first|ensure|make sure|be sure|see (?:that|to it))\b/i.test(said) ||
    isImperative(said)
  )
    return /^\S+ (?:\S+ ){0,4}(?:is|are|was|were|looks?) /i.test(said) && JUDGED.test(said)
      ? undefined
      : order(said);
  if (/^no (?!one\b|idea\b|problem|way\b|need\b|thanks|longer\b)\S/i.test(said) && !JUDGED.test(said))
    return ban(said);
  if (JUDGED.test(said) || /^(?:you|this|that|it|there)\b/i.test(said)) return undefined;
  if (LABELLED.test(said)) return { ...order(`keep to this: ${said}`), isStated: true };
  return CONVENTION.test(said)
    ? {
        kind: /\bnever\b/i.test(said) && !/\balways\b/i.test(said) ? 'ban' : 'do',
        todo: capital(said),
        isStated: true,
      }
    : undefined;
}
