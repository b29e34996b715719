import { MONTH_NAMES } from '../../text/calendar-names.ts';
import { findExample } from './contrast-patterns.ts';
import { isImperative } from './phrasing.ts';

/**
 * What a sentence applies to. `one`: a single case (an option, a ticket, a document's content), of no use for other work.
 * `many`: other work too. `open`: the sentence alone does not decide.
 */
export type RuleGenerality = 'one' | 'many' | 'open';

const LETTER_BEFORE =
  /\b(?:not|out|take|taken|took|choose|chose|chosen|pick|picked|want|wanted|missed|forgot|with|options?|answers?|choices?|letters?|statements?|claims?|and|or|than|of|only|instead of|is|are|was) $|[,(/] ?$|^$/i;
const LETTER_BEHIND =
  /^(?:$|[,.;:()/!?]| (?:is|are|was|were|be|should|must|has|have|had|does|do|did|belongs?|goes|needs?|would|will|cannot|can|could|may|and|or|as|in|too|here|instead|because|which|since|also|there|fits?|holds?|says?)\b)/i;
const NO_OPTION =
  /\b(?:vitamin|plan|class|grade|type|appendix|column|columns|drive|section|level|series|group|row|annex|exhibit|schedule|figure|table|form|paragraph|block|size|key|note|team|gate|hall|line|wing|room|building|version|part) $|\d $/i;

/** Whether it names a letter of a multiple-choice answer: "You left out B", "A is wrong"; not "column B", "a file", "C code". */
export function namesOption(said: string): boolean {
  for (const { 0: letter, index } of said.matchAll(
    /(?<![\p{L}\p{N}'’"`.+#/-])[A-H](?![\p{L}\p{N}'’"`+#/-])/gu,
  )) {
    const before = said.slice(0, index);
    const behind = said.slice(index + letter.length);
    if (/\b(?:options?|answers?|choices?|letters?|statements?) $/i.test(before)) return true;
    if (LETTER_BEFORE.test(before) && LETTER_BEHIND.test(behind) && !NO_OPTION.test(before)) return true;
  }
  return false;
}

const PAPER =
  '(?:[\\w./-]+\\.\\w{1,5}|(?:page|section|paragraph) \\d+|the (?:papers?|documents?|memo|log|minutes|notes?|records?|sheet|contract|invoice|file|table|source|text|mail))';
/** Cites a source: then it states a fact, and not something to do. */
const CITES = new RegExp(
  `^(?:from|in|according to|as per|per|going by) ${PAPER}(?: and ${PAPER})?[:,] |\\b(?:see|read in|found in|stated in|written in|borne out by|backed by|reads? in|given in|told in) ${PAPER}|^${PAPER} (?:says|states|shows|has it|gives|reads)\\b`,
  'i',
);

const MONTH = `(?:${MONTH_NAMES.join('|')})`;
/** One ticket, one version, one day, one person. */
const ONE_THING = new RegExp(
  [
    '(?<![\\w./<-])(?!(?:sha|md|utf|iso|rfc|base|http|ipv|es|mp)-?\\d)[A-Za-z]{1,6}-?\\d{2,}(?![\\w/<]|\\.\\w)',
    '(?<![\\w./<-])[A-Z]{1,3}-\\d+(?![\\w/<-])',
    '(?<![\\w.+])\\d+\\.\\d+\\.\\d+(?![\\w.])',
    '\\b(?:[Tt]icket|[Ii]ssue|[Tt]ask|[Oo]rder|[Ii]nvoice|[Cc]ase|[Qq]uestion|[Ii]tem|[Ee]ntry|[Bb]ug|[Ss]tep|[Rr]ow|[Cc]ustomer|[Pp]atient|[Vv]ersion|PR|[Jj]ob|[Rr]oom) (?:no\\. ?)?#?\\d+',
    '(?<![\\w/])#\\d+\\b',
    `\\b\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTH}\\b|\\b${MONTH} \\d{1,4}\\b`,
    '\\b(?:on|by|until|since|this|next|last) (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\\b',
    '(?:\\b(?:by|of|to|for|with|from|and|than|is|be|was|not|ask|tell|owner) |^)[A-Z][a-z]+ [A-Z][a-z]+(?=$|[,.;]| (?:is|was|has|had|who|that|and|in|on|owns?|decided|should|must|are|did|does)\\b)',
    '\\b(?:forgot|left out|missed|omitted) [A-Z][a-z]{2,}(?=$|[,.;]| (?:and|in|from|on)\\b)',
    '\\bthe (?:missing|wrong|right|correct|second|third|fourth|other) (?:one|row|line|figure|number|file|option|name|value|amount|date)\\b',
    '(?<!so )\\bthis one\\b|\\bthis (?:time|particular|specific)\\b|\\bthat (?:one|particular)\\b',
  ].join('|'),
);

/** A request to repeat the same work is no rule for other work. */
const REDO =
  /^(?:have|take) an?(?:other)?(?: closer)? look\b|^(?:look|check|read|try|do|go|count|compare|think)\b.{0,80}\b(?:again|once more)\b/i;

const UNIVERSAL =
  /\b(?:every|each|always|whenever|wherever|whatever|any(?! of (?:it|this|that|them|the)\b)|never|all(?! of (?:it|this|that|them|the|\w*\d)\b)(?! the time)|from now on|in (?:the )?future|going forward|as a rule|in general|generally|by default|throughout|everywhere|no \w+ (?:without|before|until))\b/i;
const EVER =
  /\b(?:always|never|whenever|wherever|from now on|as a rule|in general|generally|by default|throughout|everywhere)\b/i;
const ALL_OF_KIND = /^(?:in |on |for |at )?(?:every|each|any|all)\b/i;
const OF_NAME = /\b(?:of|by|for|from|with) [A-Z][a-z]+\b/;
/** "for a ticket", "of an existing file", "new files" — any of a kind. */
const KIND =
  /\b(?:for|in|of|to|on|at|with|from|before|after|when|if) an? \w+|\b(?:new|existing|finished|changed|public|private|generated|other|our) \w+s\b|^an? \w+/i;
const MODAL =
  /\b(?:must|should|shall|has to|have to|needs?|need to|ought to|required|requires|mandatory|supposed to|may only|can only|may not|not allowed|forbidden|prohibited)\b/i;
const ASKS =
  /^(?:you (?:must|should|have|need|are|were|forgot|didn['’]t|did not|left out|never|missed)|we (?!were|had|saw|went)\w+|(?:i|we) (?:want|need|expect|would like|['’]d like|prefer)|(?:could|can|would|will) you|our|house|always|never|only|no|ensure|make sure|be sure)\b/i;
const TOLD = /\b(?:was|were|went|had|did|took|came|became|got|said|saw|found|has been|have been)\b/i;
const HERE = /\b(?:here|fixed|our|only|in this (?:house|team|project|repo|repository|company|code ?base))\b/i;
const DEFINITE =
  /^(?:(?:in|on|at|of|for|from|with|by) )?(?:the|this|that|these|those|your|its|his|her|their|my|it|he|she|they|there|what|which|some|most|i)\b/i;
const TENSES = /\bshould(?:n['’]t| not)? have\b|\b(?:were|was) supposed\b|\bhad better\b/i;

/** The value of a single thing: "The total should be 4,120 EUR", "It must be Tuesday". */
const PINNED =
  /^(?:[Ii]t|[Tt]his|[Tt]hat|(?:[Tt]he|[Yy]our|[Hh]is|[Hh]er|[Ii]ts) .{2,60}?) (?:must be|should be|should have been|has to be|had to be|is|was|needs to be) (?:still )?(?:about |exactly )?(?:(?:EUR|USD|GBP|CHF|[$€£]) ?)?(?:-?\d[\d.,:/-]*(?: ?(?:%|EUR|USD|GBP|[$€£]|\p{L}{1,12}))?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|[A-Z][a-z]+(?: [A-Z][a-z]+)?)(?:$|[,.;] (?:not|and not|instead)\b|[,;] (?:you|it)\b| (?:not|instead of|rather than) )/u;

/** The generality of a sentence, which is given without its lead-in. */
export function generalityOf(said: string): RuleGenerality {
  const text = said.replace(/[\s.!?;:,]+$/, '');
  if (namesOption(text)) return 'one';
  const bare = withoutQuoted(text);
  const isAsked = isDemand(bare);
  const isUniversal = UNIVERSAL.test(bare);
  const isTold = TOLD.test(bare.replace(TENSES, ''));
  if (isUniversal && isAsked) return 'many';
  if (ONE_THING.test(bare) && !(isAsked && (KIND.test(bare) || hasPluralSubject(bare)))) return 'one';
  if (PINNED.test(bare) || REDO.test(bare)) return 'one';
  if (CITES.test(text) && !(MODAL.test(bare) && hasPluralSubject(behindSource(bare)))) return 'one';
  if (isAsked) return 'many';
  return !isTold && isCustom(bare) ? 'many' : 'open';
}

/** Whether a sentence without a word of demand states a convention: "One class per file". */
export function statesCustom(said: string): boolean {
  const bare = withoutQuoted(said);
  if (TOLD.test(bare)) return false;
  return HERE.test(bare) || isCustom(bare) || (!DEFINITE.test(bare) && !OF_NAME.test(bare));
}

/** It applies always, or to all things of a kind; "all tickets of Merlin" is a few. */
const isCustom = (text: string): boolean =>
  (EVER.test(text) || ALL_OF_KIND.test(text)) && !OF_NAME.test(text);

const isDemand = (text: string): boolean => {
  // Reported thoughts and speech may contain any word of demand.
  const plain = text
    .replace(/^(?:please|kindly|and|also) /i, '')
    .replace(/\b(?:is|was|are|were) that\b.*/i, '');
  const deed = plain.replace(CONDITION, '');
  return (MODAL.test(plain) && !/^(?:i|i['’]m) /i.test(plain)) || ASKS.test(deed) || isImperative(deed);
};

const CONDITION =
  /^(?:when|whenever|if|before|after|once|for|in|on|at|while|during|unless|as soon as|every time|each time)\b[^,]{2,160}, /i;

/** "Tickets should …", "File names must …", "V2 endpoints need …": all things of a kind. */
const hasPluralSubject = (text: string): boolean => {
  const at = MODAL.exec(text)?.index ?? 0;
  const subject = text.slice(0, at).trim();
  return (
    at > 0 &&
    !/^(?:the|this|that|these|those|your) /i.test(subject) &&
    /[a-z]s$/.test(subject) &&
    !/ss$/.test(subject)
  );
};

const behindSource = (text: string): string => text.replace(/^[^:,]{1,80}[:,] /, '');

/** Without quotations, brackets and examples: the sentence is not about what they name. */
function withoutQuoted(text: string): string {
  const example = findExample(text);
  return (example === undefined ? text : text.replace(example, ''))
    .replace(/"[^"]{1,200}"|`[^`]{1,200}`|“[^”]{1,200}”|\([^()]{1,200}\)/g, (shown) =>
      shown.startsWith('(') ? '' : 'X',
    )
    .replace(/,? (?:so (?:this one|it|\S+) is|here|as in|like|such as|instead of|as) \S*\d\S*/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
