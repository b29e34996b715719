import { isVerb } from '../distiller/verbs.ts';

/** Words of standing rules, as opposed to single requests. */
const STANDING =
  /\b(?:always|never|every|whenever|each time|at all times|conventions?|polic(?:y|ies)|guidelines?|rules?|standards?|mandatory|mandated|required|requires|must|shall|by default|agreed|decided|as of|since (?:january|february|march|april|may|june|july|august|september|october|november|december|q[1-4]|v?\d|last|this)|nobody|no one|everyone|everybody|whoever|officially|supported way|preferred|practice|procedure|workflow)\b/;
const ASKING =
  /\b(?:should|please|make sure|ensure|be sure|remember|need(?:s)? to|ha(?:s|ve) to|do not|don't|recommend\w*|prefer|avoid|instead|only|important|necessary|essential|better to|best to|try to|consider|feel free|(?:you|we|they|one) (?:can|may|use|run|send|keep|put|add|round|write|call|take)|(?:may|can) be|(?:is|are) (?:to be|fine|allowed|welcome|optional|enough|granted)|let's|anyway)\b/;
const LEAD =
  /^[\s>#*+\-\d.)(/|]{0,12}(?:(?:note|tip|hint|help|warning|info|important|reminder|fix|solution|action|todo|step \d+|first|then|next|also|finally|and)\b[\s:,.-]{1,4})?/;

/** English function words; the output of programs has few of them. */
const FUNCTION_WORDS_OF_ENGLISH: ReadonlySet<string> = new Set(
  `the a an and or of to in for with is are be on at by from this that it as not so when you your if all any into was were
  has have had but than then there they we our its which who will would can could may might do does did been because since
  no only also after before while until about over under without their them every each nobody whatever whoever`.split(
    /\s+/,
  ),
);
const WORD = /^["'(*]?[\p{L}'-]+["').,:;!?*]*$/u;
const FEWEST_PROSE_WORDS = 5;
const FEWEST_FUNCTION_WORDS = 2;
const SHARE_OF_WORDS = 0.7;

/** Whether a normalized sentence states a standing rule. */
export const isStanding = (sentence: string): boolean => STANDING.test(sentence);

/** Whether a normalized sentence requests something of its reader. */
export function isAsking(sentence: string): boolean {
  if (STANDING.test(sentence) || ASKING.test(sentence)) return true;
  const [first = ''] = sentence.replace(LEAD, '').split(/[^\p{L}]/u, 1);
  return isVerb(first);
}

/** Whether a normalized sentence is prose, as opposed to program output. */
export function isProse(sentence: string): boolean {
  const parts = sentence.split(/\s+/);
  const words = parts.filter((part) => WORD.test(part));
  if (words.length < FEWEST_PROSE_WORDS || words.length < parts.length * SHARE_OF_WORDS) return false;
  return (
    words.filter((word) => FUNCTION_WORDS_OF_ENGLISH.has(word.replace(/[^\p{L}]/gu, ''))).length >=
    FEWEST_FUNCTION_WORDS
  );
}
