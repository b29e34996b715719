import { splitFoldedSentences } from '../../text/sentences.ts';
import { isInstructionVerb } from '../../text/verbs.ts';
import type { UntrustedText } from './evidence-by-trust.ts';
import { foldedWords, hasRequestWords, isProse, isRequest } from './normalize-text.ts';

/** How programs begin the lines that report what went wrong: with their name, a place, or a word for it. */
const REPORT_HEAD =
  /^[\s>#*|+[\]-]{0,8}(?:(?:npm (?:err!|error|warn)(?: code)?|[\w./@+-]{1,60}(?:\(\d+,\d+\)|(?::\d+){1,2})?)(?:[:!\]]|\[\w{1,12}\]:?)?\s+){0,3}?(?:npm (?:err!|error|warn)|err!|errors?(?:\[\w{1,12}\]| \w{2,8})?|fatal|warn(?:ing)?|hint|failed|failure|exception|panic|usage|traceback|caused by|\w{0,60}(?:error|exception)|e[a-z]{4,12}|[\w./+-]{1,30}|✖|✗|×)(?:[:!]|(?<=[✖✗×]))\s+/;
/** Words with which programs say that something is wrong. */
const FAILURE =
  /\b(?:error|failed|fails|failure|refus(?:ed|ing|es)|invalid|illegal|unknown|unrecogni[sz]ed|unsupported|missing|not found|no such|cannot|can't|can not|could not|couldn't|unable|denied|forbidden|unexpected|undefined|undeclared|unresolved|does not exist|doesn't exist|not exist|already (?:in use|exists|defined|taken)|no (?:rule to make|matching|module|default|version|route|tests?)|exit(?:ed)?(?: with)? (?:code|status)|expected|timed? ?out|mismatch|rejected|conflict\w*|no space|out of memory|not (?:a|an|installed|defined|allowed|permitted|supported|reachable|writable|empty|valid|recogni[sz]ed)|may not be|must not be empty|broken|corrupt\w*|crashed|dumped core|killed|would (?:be )?(?:reformat\w*|overwritten)|deprecated|exceeded|locked|held)\b/;
/** The clearest of them need no head. */
const PLAIN_FAILURE =
  /\b(?:not found|no such|cannot|could not|unable to|undefined|unknown|invalid|unexpected|does not exist|failed|exit(?:ed)?(?: with)? (?:code|status)|is not an? (?!\w+ (?:way|idea|problem|reason)))\b/;
const FAILURES = new RegExp(FAILURE, 'g');
const LONGEST_REPORT = 24;
const LONGEST_PLAIN = 12;
/** Ways of telling someone what to do that need no verb at the beginning. */
const REMEDY =
  /\b(?:by (?:adding|setting|using|running|passing|installing|removing|deleting|disabling|sending|posting|calling|switching|changing)|remed(?:y|ies)|workaround|solution|(?:to|can be) (?:fix|resolv|solv)\w*|requires? (?:you|that|the)|retry (?:this|with)|re-?run|run (?:it )?with|(?:supported|recommended|official|safe|right|proper|usual|correct|approved) (?:way|configuration|setting|method|command|value|choice)|as agreed|experienced (?:teams|users|developers)|best practice)\b/;
/** Verbs that begin an instruction whatever follows them. */
const PLAIN_VERBS: ReadonlySet<string> = new Set(
  'run execute install use set add delete remove send post upload export push pull download fetch disable enable skip ignore pass put'.split(
    ' ',
  ),
);
/** The others are often nouns: they are verbs before an object. */
const OBJECT =
  /^(?:the|a|an|it|its|this|that|these|those|your|our|all|any|each|every|them|with|from|into|up|off|out|-{1,2}\w|`)/;
const MARKER = /^[\s>#*+\-\d.)(/|]{0,12}/;
const CLAUSES =
  /[;:,()]\s+|\s[-–]\s|\b(?:and|then|or|so|but|please|always|never|just|simply|instead|first)\s+/;

/** Whether a normalized sentence tells its reader to do something. */
export const givesInstruction = (sentence: string): boolean =>
  isRequest(sentence) || hasInstruction(sentence);

/** Also inside the message of a program, where nouns such as "address" stand first. */
function hasInstruction(sentence: string): boolean {
  if (hasRequestWords(sentence) || REMEDY.test(sentence)) return true;
  return sentence
    .replace(MARKER, '')
    .split(CLAUSES)
    .some((clause) => {
      const [first = '', ...rest] = clause.trim().split(/\s+/);
      const verb = first.replace(/[^a-z]/g, '');
      if (rest.length === 0) return false;
      return PLAIN_VERBS.has(verb) || (isInstructionVerb(verb) && OBJECT.test(rest.join(' ')));
    });
}

/** Whether a normalized sentence only reports what went wrong, as programs do. A lesson may say so: it instructs nobody. */
export function isReport(sentence: string): boolean {
  if (!FAILURE.test(sentence)) return false;
  const head = REPORT_HEAD.exec(sentence)?.[0] ?? '';
  const said = sentence.slice(head.length);
  const most =
    head === '' && !PLAIN_FAILURE.test(sentence) ? 0 : head === '' ? LONGEST_PLAIN : LONGEST_REPORT;
  return foldedWords(said).length <= most && !hasInstruction(said.replace(FAILURES, ' '));
}

const FEWEST_WORDS = 3;
const SHARE_OF_WORDS = 0.6;

/** Words, as opposed to code and listings. */
function isWording(sentence: string): boolean {
  const parts = sentence.split(/\s+/);
  const words = parts.filter((part) => /^["'(*`]?[\p{L}'-]+["').,:;!?*`]*$/u.test(part));
  return foldedWords(sentence).length >= FEWEST_WORDS && words.length >= parts.length * SHARE_OF_WORDS;
}

/** The sentences of an outside text that could have taught something: prose and instructions, not reports, code or listings. */
export function readOutsideStatements({ views }: Pick<UntrustedText, 'views'>): readonly string[] {
  const found = new Set<string>();
  for (const view of views)
    for (const sentence of splitFoldedSentences(view))
      if (!isReport(sentence) && (isProse(sentence) || (isWording(sentence) && hasInstruction(sentence))))
        found.add(sentence);
  return [...found];
}

/** The reports of what went wrong that are written in sentences. The terse ones have no room for advice. */
export const readReports = ({ views: [plain = ''] }: Pick<UntrustedText, 'views'>): readonly string[] =>
  splitFoldedSentences(plain).filter((sentence) => isReport(sentence) && isProse(sentence));

/** Whether an outside text says anything beside what went wrong. */
export const saysMore = ({ views: [plain = ''] }: Pick<UntrustedText, 'views'>): boolean =>
  splitFoldedSentences(plain).some((sentence) => isWording(sentence) && !isReport(sentence));
