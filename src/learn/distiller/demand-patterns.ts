import { isInstructionVerb, verbBaseForm } from '../../text/verbs.ts';
import { capitalize, isImperative, namedSubject, withArticle } from './phrasing.ts';

/** `do`: a demand. `ban`: a prohibition. `lack`: something was omitted. `value`: an exact value is required. */
type FeedbackRuleKind = 'do' | 'ban' | 'lack' | 'value';

/** One demand, found in feedback. */
export interface FeedbackRule {
  readonly kind: FeedbackRuleKind;
  /** What to do: a sentence without its full stop, in the words of the feedback. */
  readonly todo: string;
  /** The rejected form. */
  readonly wrong?: string;
  readonly example?: string;
  /** Stated and not demanded: its wording decides whether it is a convention or a fact. */
  readonly isStated?: true;
}

const ADDRESSEE = '(?:you|we|one|everyone|(?:the |an? |all )?(?:agents?|assistants?|bots?))';
const MODAL =
  "(?:must|should|shall|need to|needs to|have to|has to|ought to|are to|is to|are expected to|are required to|['’]?re supposed to|are supposed to|['’]d better|had better)";
export const JUDGEMENT =
  /\b(?:wrong|broken|bad|incorrect|poor|useless|sloppy|mess|ugly|terrible|unacceptable|nonsense|failing|failed|invalid|confus\w+|disappoint\w+)\b/i;

const order = (todo: string): FeedbackRule => ({ kind: 'do', todo: capitalize(todo) });
const ban = (todo: string): FeedbackRule => ({ kind: 'ban', todo: capitalize(todo) });

/** Verbs after "we" that report instead of demanding. */
const NO_DEED =
  /^(?:are|were|was|had|have|did|do|can|could|may|might|will|would|know|think|believe|see|saw|went|got|found|like|hope|all|both|each)$|ed$/i;

const READERS: readonly (readonly [RegExp, RuleReader])[] = [
  [
    /^(?:do not|don['’]?t) (?!worry|know|think|care|mind|bother)(.+)/i,
    ([, what = '']) => ban(`do not ${what}`),
  ],
  [/^(?:never|avoid|stop|refrain from|no more) .+/i, ([whole]) => ban(whole)],
  [
    /^you (?:should(?:n['’]t| not) have|had no reason to have) (\w+) (.+)/i,
    ([, verb = '', rest = '']) => {
      const base = verbBaseForm(verb);
      return base === undefined ? undefined : ban(`do not ${base} ${rest}`);
    },
  ],
  [
    /^you (?:should|could)(?: have|['’]ve) (?:also |always )?(\w+) (.+)/i,
    ([, verb = '', rest = '']) => {
      const base = verbBaseForm(verb);
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
      isInstructionVerb(verb) || (/\b(?:each|every|all)\b/i.test(what) && !NO_DEED.test(verb))
        ? order(what)
        : undefined,
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
export function readDemand(said: string): FeedbackRule | undefined {
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
    return /^\S+ (?:\S+ ){0,4}(?:is|are|was|were|looks?) /i.test(said) && JUDGEMENT.test(said)
      ? undefined
      : order(said);
  if (/^no (?!one\b|idea\b|problem|way\b|need\b|thanks|longer\b)\S/i.test(said) && !JUDGEMENT.test(said))
    return ban(said);
  if (JUDGEMENT.test(said) || /^(?:you|this|that|it|there)\b/i.test(said)) return undefined;
  if (LABELLED.test(said)) return { ...order(`keep to this: ${said}`), isStated: true };
  return CONVENTION.test(said)
    ? {
        kind: /\bnever\b/i.test(said) && !/\balways\b/i.test(said) ? 'ban' : 'do',
        todo: capitalize(said),
        isStated: true,
      }
    : undefined;
}

type RuleReader = (match: RegExpExecArray) => FeedbackRule | undefined;

const WHO = "(?:you|it|the (?:agent|assistant|model|bot|script|run|reply))(?:['’]ve| have| has)?";
const NOT_A_RULE =
  /^(?:work|help|make sense|look(?! like)|seem|agree|tally|add up|correspond|match (?:what|with|up)|compile|pass|know|understand|matter|listen|care|want|like|think|believe|get it|see|(?:read|follow|answer) (?:the |my )?(?:task|instructions?|question|prompt)|do (?:it|this|that|what|as)|what|how|why|as asked|right|correct|good|enough|ok|okay|fine|quite|helpful|useful|acceptable|sure|done|finished|it\b)/i;

/** For sentences that may describe the present or the wanted state: the reader decides. */
export const asReminder = (said: string): FeedbackRule => ({
  kind: 'do',
  todo: `Mind this: ${capitalize(said)}`,
});

const requirePresence = (what: string, rest = ''): FeedbackRule => ({
  kind: 'lack',
  todo: `Include ${withArticle(what.trim())}${rest.replace(/^ from\b/, ' in')}`,
});

const doIt = (what: string): FeedbackRule | undefined =>
  NOT_A_RULE.test(what) ? undefined : { kind: 'lack', todo: capitalize(what) };

/** Sentences about something that was not done or is missing. */
const DEEDS: readonly (readonly [RegExp, RuleReader])[] = [
  [/^(?:do not|don['’]t|never) forget (?:that )?to (.+)/i, ([, what = '']) => doIt(what)],
  [/^(?:do not|don['’]t|never) forget (?:about )?(.+)/i, ([, what = '']) => requirePresence(what)],
  [/^(?:make sure|be sure|remember|take care)(?: always)? to (.+)/i, ([, what = '']) => doIt(what)],
  [
    new RegExp(`^(?:${WHO} )?(?:forgot|forgotten|neglected|failed|omitted) to (.+)`, 'i'),
    ([, what = '']) => doIt(what),
  ],
  [
    /^you (?:don['’]t|do not) (.+)/i,
    ([whole, what = '']) => (NOT_A_RULE.test(what) ? undefined : asReminder(whole)),
  ],
  [new RegExp(`^(?:${WHO} )?(?:didn['’]t|did not) (.+)`, 'i'), ([, what = '']) => doIt(what)],
  [
    new RegExp(`^${WHO} never (\\w+) (.+)`, 'i'),
    ([, verb = '', rest = '']) => {
      const base = verbBaseForm(verb);
      return base === undefined ? undefined : doIt(`${base} ${rest}`);
    },
  ],
  [
    /^(?:you|it) (?:haven['’]t|have not|hasn['’]t|has not) (\w+) (.+)/i,
    ([, verb = '', rest = '']) => {
      const base = verbBaseForm(verb);
      return base === undefined ? undefined : doIt(`${base} ${rest}`);
    },
  ],
  [
    new RegExp(`^(?:${WHO} )?(?:forgot|left out|omitted|missed|dropped|left off)(?: about)? (.+)`, 'i'),
    ([, what = '']) => requirePresence(what),
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
  [
    /^(?:where(?:['’]s| is| are)|what about|what happened to) (.+)/i,
    ([, what = '']) => requirePresence(what),
  ],
  [/^there (?:is|are|was|were) (?:no|not any|n['’]t any) (.+)/i, ([, what = '']) => requirePresence(what)],
  [
    /^no (.{1,80}?) (?:was|were|is|are|has been|have been) (found|present|there|visible|given|made|written|created|added|set|included|recorded|provided|run|sent|taken)\b(.*)/i,
    ([, what = '', how = '', rest = '']) =>
      /^(?:found|present|there|visible)$/i.test(how)
        ? requirePresence(what, rest)
        : { kind: 'lack', todo: `${capitalize(withArticle(what))} must be ${how}${rest}` },
  ],
  [
    /^no (.{1,80}?) (?:found|present|given|provided)\b(.*)/i,
    ([, what = '', rest = '']) => requirePresence(what, rest),
  ],
  [/^(?:still )?missing[: ]+(.+)/i, ([, what = '']) => requirePresence(what)],
];

/** An omission, turned into a demand. */
export function readOmission(said: string): FeedbackRule | undefined {
  for (const [pattern, read] of DEEDS) {
    const match = pattern.exec(said);
    const rule = match === null ? undefined : read(match);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** "The keys do not …" is about the work at hand; "Keys do not …" may state a convention. */
const DEFINITE = /^(?:the|your|this|that|these|those|its|their|some|most|\d+|it|they)\b/i;
/** Abilities and needs are facts and must not be turned into demands. */
const ABLE =
  /^(?:accept|support|allow|permit|tolerate|take|read|like|want|expect|parse|recogni[sz]e|handle|need|have to|require|trust|change|offer|let|mean|apply|count|cost|exist anymore)\b/i;
/** About every thing of a kind: a convention and no complaint. */
const STATED_CONVENTION =
  /^(?:our|an?|every|each|any|all|no) |\b(?:here|ever|at all|in our|with us|anymore|any more|by design|on purpose|in this (?:house|team|project|repo|repository|company))\b/i;

/** A negative statement, turned into a demand. */
const demand = (subject: string, what: string): FeedbackRule | undefined =>
  NOT_A_RULE.test(what) ||
  /\b(?:if|when|unless|that|which|where|because|so|while)\b/i.test(subject) ||
  /^(?:i|we|you)$/i.test(subject)
    ? undefined
    : { kind: 'lack', todo: `${namedSubject(subject)} ${what}` };

/** Sentences about what a thing is not or lacks. An imperative may contain such words in a subordinate clause. */
const STATES: readonly (readonly [RegExp, RuleReader])[] = [
  [
    /^(.{1,120}?) (?:is|are|was|were|['’]s)? ?(?:still )?(?:missing|absent|left out|omitted)$/i,
    ([, what = '']) => requirePresence(what),
  ],
  [
    /^(.{1,120}?) (?:is|are|was|were)? ?(?:still )?(?:missing|absent) ((?:from|in|at|on|before|after|for)\b.+)/i,
    ([, what = '', rest = '']) => requirePresence(what, ` ${rest}`),
  ],
  [
    /^(.{1,120}?) (?:is|are|was|were) (?:still )?missing (.+)/i,
    ([, subject = '', what = '']) => demand(subject, `must have ${withArticle(what)}`),
  ],
  [
    /^(.{1,120}?) (?:lacks?|is lacking|are lacking|has no|have no|had no|came without|comes? without) (.+)/i,
    ([whole, subject = '', what = '']) =>
      STATED_CONVENTION.test(whole) ? asReminder(whole) : demand(subject, `must have ${withArticle(what)}`),
  ],
  [
    /^(.{1,120}?) (does not|doesn['’]t|do not|don['’]t|did not|didn['’]t) (.+)/i,
    ([whole, subject = '', not = '', what = '']) => {
      if (NOT_A_RULE.test(what)) return undefined;
      const isGeneral = /^do/i.test(not) && !/^does/i.test(not) && !DEFINITE.test(subject);
      return isGeneral || ABLE.test(what) || STATED_CONVENTION.test(whole)
        ? asReminder(whole)
        : demand(subject, `must ${what}`);
    },
  ],
  [
    /^(.{1,120}?) (?:is not|isn['’]t|are not|aren['’]t|was not|wasn['’]t|were not|weren['’]t) (?!allowed|permitted|acceptable|ok\b|okay\b|to be\b|supposed|an option|necessary|needed|required)(.+)/i,
    ([whole, subject = '', what = '']) => {
      if (NOT_A_RULE.test(what)) return undefined;
      return STATED_CONVENTION.test(whole) ? asReminder(whole) : demand(subject, `must be ${what}`);
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
export function readState(said: string): FeedbackRule | undefined {
  if (isImperative(said)) return undefined;
  for (const [pattern, read] of STATES) {
    const match = pattern.exec(said);
    const rule = match === null ? undefined : read(match);
    if (rule !== undefined) return rule;
  }
  return undefined;
}
