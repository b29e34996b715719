import { isVerb } from '../distiller/verbs.ts';
import { topicStems } from '../words.ts';
import { sentencesOf } from './tokens.ts';

/** Said of what is always to be so, not of one thing once. */
const STANDING =
  /\b(?:always|never|every|whenever|each time|at all times|conventions?|polic(?:y|ies)|guidelines?|rules?|standards?|mandatory|mandated|required|requires|must|shall|by default|agreed|decided|as of|since (?:january|february|march|april|may|june|july|august|september|october|november|december|q[1-4]|v?\d|last|this)|nobody|no one|everyone|everybody|officially|supported way|preferred|practice|procedure|workflow)\b/;
const ASKING =
  /\b(?:should|please|make sure|ensure|be sure|remember|need(?:s)? to|ha(?:s|ve) to|do not|don't|recommend\w*|prefer|avoid|instead|only|important|necessary|essential|better to|best to|try to|consider|you can|you may|we (?:use|run|send|keep|put|add|round|write|call|take)|is to be|are to be|let's)\b/;
const LEAD = /^[\s>#*+\-\d.)(/|]{0,12}(?:(?:note|tip|hint|help|warning|info|important|reminder|fix|solution|action|todo|step \d+|first|then|next|also|finally|and)\b[\s:,.-]{1,4})?/;

/** How much two sentences must share that nobody else spoke of. */
interface Bar {
  readonly fewest: number;
  readonly share: number;
}
const FOR_STANDING: Bar = { fewest: 2, share: 0.34 };
const FOR_ASKING: Bar = { fewest: 3, share: 0.5 };
const FOR_ANYTHING: Bar = { fewest: 4, share: 0.6 };
/** Of a sentence without end. */
const ENOUGH = 7;

export type FindMeaning = (folded: string) => string | undefined;

/**
 * Tells of a text whether the lesson says what a sentence of it says, in whatever order and form. What asks for something
 * counts sooner than what only tells. Words that people, verifiers and digests used as well do not count.
 */
export function createFindMeaning(words: string, trusted: readonly string[]): FindMeaning {
  const known = topicStems(trusted.join('\n'));
  const lines = sentencesOf(words).map((sentence) => topicStems(sentence));
  const all = new Set(lines.flatMap((stems) => [...stems]));
  const linesOf = new Map<string, number[]>();
  for (const [index, stems] of lines.entries())
    for (const stem of stems) linesOf.set(stem, [...(linesOf.get(stem) ?? []), index]);

  return (folded) =>
    sentencesOf(folded).find((sentence) => {
      const fresh = [...topicStems(sentence)].filter((stem) => !known.has(stem));
      const shared = fresh.filter((stem) => all.has(stem));
      if (shared.length < FOR_STANDING.fewest) return false;
      const bar = isStanding(sentence) ? FOR_STANDING : isAsking(sentence) ? FOR_ASKING : undefined;
      if (bar !== undefined && (passes(bar, shared.length, fresh.length) || shared.length >= ENOUGH)) return true;
      const hits = new Map<number, number>();
      for (const stem of shared) for (const line of linesOf.get(stem) ?? []) hits.set(line, (hits.get(line) ?? 0) + 1);
      return [...hits].some(([line, count]) => passes(FOR_ANYTHING, count, lines[line]?.size ?? 0));
    });
}

const passes = ({ fewest, share }: Bar, count: number, of: number): boolean =>
  count >= fewest && count >= of * share;

const isStanding = (sentence: string): boolean => STANDING.test(sentence);

/** Whether a folded sentence wants something of its reader. */
export const isAsking = (sentence: string): boolean => {
  if (STANDING.test(sentence) || ASKING.test(sentence)) return true;
  const [first = ''] = sentence.replace(LEAD, '').split(/[^\p{L}]/u, 1);
  return isVerb(first);
};
