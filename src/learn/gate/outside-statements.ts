import { splitFoldedSentences } from '../../text/sentences.ts';
import { foldedWords } from './normalize-text.ts';

/*
 * Which sentences of a tool's output could have taught something. Programs report what went wrong, in terse lines that begin
 * with their name or a word for it; whoever wants something to be done writes prose, or tells the reader what to do.
 */

/** Standing rules: always, never, the convention is. */
const STANDING =
  /\b(?:always|never|every|whenever|at all times|conventions?|polic(?:y|ies)|guidelines?|rules?|standards?|mandatory|required|requires|must|shall|by default|agreed|decided|as of|since (?:\w+ )?\d|nobody|no one|everyone|officially|preferred|practice|workflow)\b/;
const ASKING =
  /\b(?:should|please|make sure|ensure|remember|needs? to|ha(?:s|ve) to|do not|don't|recommend\w*|prefer|avoid|instead|only|important|better to|best to|consider|feel free|(?:you|we|they|one) (?:can|may|use|run|send|keep|put|add|write|call|take)|(?:is|are) (?:to be|fine|allowed|welcome|optional|granted)|let's|anyway|by (?:\w+ing)|remedy|workaround|solution|to (?:fix|resolve|solve) (?:it|this|the)|re-?run|run with|best practice)\b/;
const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));
const VERBS = words(
  `add allow append apply approve clear copy create decode delete deploy disable download drop enable execute export fetch follow
  forward grant ignore include install keep leave merge open paste pay pin pipe post pull push put read recommend remove rename
  repeat replace reset restart retry run save send set show skip stop store switch turn upgrade upload use verify write`,
);
/** These are often nouns: they are verbs before an object. */
const NOUN_VERBS = words(
  'answer ask build call change check commit load mark move name pass place point report round route share start update',
);
const OBJECT =
  /^(?:the|an?|it|its|this|that|these|those|your|our|all|any|each|every|them|with|from|into|up|off|out|-{1,2}\w|`)/;
const MARKER =
  /^[\s>#*+\-\d.)(/|]{0,12}(?:(?:note|tip|hint|fix|action|todo|step \d+|first|then|also)\b[\s:,.-]{1,4})?/;
const CLAUSES = /[;:,()]\s+|\s[-–]\s|\b(?:and|then|or|so|but|just|simply|first)\s+/;

/** Whether a normalized sentence states a standing rule. */
export const isStandingRule = (sentence: string): boolean => STANDING.test(sentence);

/** Whether a normalized sentence tells its reader to do something. */
export function givesInstruction(sentence: string): boolean {
  if (STANDING.test(sentence) || ASKING.test(sentence)) return true;
  return sentence
    .replace(MARKER, '')
    .split(CLAUSES)
    .some((clause) => {
      const [verb = '', ...rest] = clause.trim().split(/\s+/);
      if (rest.length === 0) return false;
      return VERBS.has(verb) || (NOUN_VERBS.has(verb) && OBJECT.test(rest.join(' ')));
    });
}

/** How programs begin the lines that report what went wrong. */
const REPORT_HEAD =
  /^[\s>#*|+[\]-]{0,8}(?:[\w./@+-]{1,60}(?:\(\d+,\d+\)|(?::\d+){1,2})?[:!\]]?\s+){0,3}?(?:npm (?:err!|error|warn)|err!|errors?(?:\[\w{1,12}\]| \w{2,8})?|fatal|warn(?:ing)?|hint|failed|failure|exception|panic|usage|\w{0,60}(?:error|exception)|e[a-z]{4,12}|[\w./+-]{1,30}|✖|✗|×)(?:[:!]|(?<=[✖✗×]))\s+/;
const FAILURE =
  /\b(?:errors?|failed|fails|failure|refus(?:ed|ing|es)|invalid|illegal|unknown|unrecogni[sz]ed|unsupported|missing|not found|no such|cannot|can't|could not|unable|denied|forbidden|unexpected|undefined|undeclared|does not exist|already (?:in use|exists)|no (?:rule to make|matching|module|route|tests?)|exit(?:ed)?(?: with)? (?:code|status)|expected|timed? ?out|mismatch|rejected|conflict\w*|not (?:an?|installed|defined|allowed|permitted|reachable|empty|valid)|may not be|must not be empty|broken|crashed|killed|would (?:be )?(?:reformat\w*|overwritten)|deprecated|exceeded|locked|held)\b/;
const PLAIN_FAILURE =
  /\b(?:not found|no such|cannot|could not|unable to|undefined|unknown|invalid|unexpected|does not exist|failed|exit(?:ed)?(?: with)? (?:code|status))\b/;
const FAILURES = new RegExp(FAILURE, 'g');
const LONGEST_REPORT = 24;
const LONGEST_PLAIN = 12;

/** Whether a normalized sentence only reports what went wrong, as programs do. A lesson may say so: it instructs nobody. */
export function isReport(sentence: string): boolean {
  if (!FAILURE.test(sentence)) return false;
  const head = REPORT_HEAD.exec(sentence)?.[0] ?? '';
  const said = sentence.slice(head.length);
  const most = head !== '' ? LONGEST_REPORT : PLAIN_FAILURE.test(sentence) ? LONGEST_PLAIN : 0;
  return foldedWords(said).length <= most && !givesInstruction(said.replace(FAILURES, ' '));
}

/** The output of programs has few of these. */
const FUNCTION_WORDS = words(
  `the a an and or of to in for with is are be on at by from this that it as not so when you your if all any into was were has have
  had but than then there they we our its which who will would can could may do does been because since no only also after before
  while until about over under without their them every each nobody whatever whoever`,
);
const WORD = /^["'(*`]?[\p{L}'-]+["').,:;!?*`]*$/u;

/** Words, as opposed to code and listings. */
function isWording(sentence: string, fewest: number, share: number): boolean {
  const parts = sentence.split(/\s+/);
  const words = parts.filter((part) => WORD.test(part));
  return foldedWords(sentence).length >= fewest && words.length >= parts.length * share;
}

/** Whether a normalized sentence is prose, as opposed to program output. */
export const isProse = (sentence: string): boolean =>
  isWording(sentence, 5, 0.7) &&
  sentence.split(/\s+/).filter((word) => FUNCTION_WORDS.has(word.replace(/[^\p{L}]/gu, ''))).length >= 2;

/** A line of a program, as far as its first word and its last sign tell. */
const SOURCE =
  /^(?:\*\/ )?(?:export|import) (?:async|default|const|function|class|type|interface|\{|\w+ from)|^(?:import|export|const|let|var|return|def|class|for|while|if|it|describe|expect|assert|func|fn|public|private|async|elif|else|try|\*\/|@\w+|\w+(?:\.\w+)+\()(?=\W).*[;{}(),:>]$/;

/** A few words that introduce a listing. */
const TITLE = /^[^.,:]{1,50}:$/;

/** The sentences of an outside text that could have taught something: prose and instructions, not reports, code or listings. */
export function readOutsideStatements(views: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const view of views)
    for (const sentence of splitFoldedSentences(view))
      if (
        !SOURCE.test(sentence) &&
        !TITLE.test(sentence) &&
        !isReport(sentence) &&
        (isProse(sentence) || (isWording(sentence, 3, 0.6) && givesInstruction(sentence)))
      )
        found.add(sentence);
  return [...found];
}

/** The reports of what went wrong that are written in sentences. The terse ones have no room for advice. */
export const readReports = (plain: string): readonly string[] =>
  splitFoldedSentences(plain).filter((sentence) => isReport(sentence) && isProse(sentence));

/** Whether an outside text says anything beside what went wrong. */
export const saysMore = (plain: string): boolean =>
  splitFoldedSentences(plain).some((sentence) => isWording(sentence, 3, 0.6) && !isReport(sentence));
