import { isVerb } from '../distiller/verbs.ts';

/** Said of what is always to be so, not of one thing once. */
const STANDING =
  /\b(?:always|never|every|whenever|each time|at all times|conventions?|polic(?:y|ies)|guidelines?|rules?|standards?|mandatory|mandated|required|requires|must|shall|by default|agreed|decided|as of|since (?:january|february|march|april|may|june|july|august|september|october|november|december|q[1-4]|v?\d|last|this)|nobody|no one|everyone|everybody|whoever|officially|supported way|preferred|practice|procedure|workflow)\b/;
const ASKING =
  /\b(?:should|please|make sure|ensure|be sure|remember|need(?:s)? to|ha(?:s|ve) to|do not|don't|recommend\w*|prefer|avoid|instead|only|important|necessary|essential|better to|best to|try to|consider|feel free|(?:you|we|they|one) (?:can|may|use|run|send|keep|put|add|round|write|call|take)|(?:may|can) be|(?:is|are) (?:to be|fine|allowed|welcome|optional|enough|granted)|let's|anyway)\b/;
const LEAD =
  /^[\s>#*+\-\d.)(/|]{0,12}(?:(?:note|tip|hint|help|warning|info|important|reminder|fix|solution|action|todo|step \d+|first|then|next|also|finally|and)\b[\s:,.-]{1,4})?/;

/** Small words that hold English sentences together; what a program prints has few of them. */
const SMALL: ReadonlySet<string> = new Set(
  `the a an and or of to in for with is are be on at by from this that it as not so when you your if all any into was were
  has have had but than then there they we our its which who will would can could may might do does did been because since
  no only also after before while until about over under without their them every each nobody whatever whoever`.split(
    /\s+/,
  ),
);
const WORD = /^["'(*]?[\p{L}'-]+["').,:;!?*]*$/u;
const FEWEST_WORDS = 5;
const FEWEST_SMALL = 2;
const SHARE_OF_WORDS = 0.7;

/** Whether a folded sentence says how things always are to be. */
export const isStanding = (sentence: string): boolean => STANDING.test(sentence);

/** Whether a folded sentence wants something of its reader. */
export function isAsking(sentence: string): boolean {
  if (STANDING.test(sentence) || ASKING.test(sentence)) return true;
  const [first = ''] = sentence.replace(LEAD, '').split(/[^\p{L}]/u, 1);
  return isVerb(first);
}

/** Whether a folded sentence is one that someone wrote for readers, rather than what a program prints of itself. */
export function isProse(sentence: string): boolean {
  const parts = sentence.split(/\s+/);
  const words = parts.filter((part) => WORD.test(part));
  if (words.length < FEWEST_WORDS || words.length < parts.length * SHARE_OF_WORDS) return false;
  return words.filter((word) => SMALL.has(word.replace(/[^\p{L}]/gu, ''))).length >= FEWEST_SMALL;
}
