import { stemInflection } from './stem.ts';

/** English function words, and words that occur in any instruction. */
const STOP: ReadonlySet<string> = new Set(
  `a about after again all also always am an and any anything are as at be because been before being both but by can cannot
  could did do does doing done each either else etc every everything few for from further get gets give given go goes had
  has have he her here his how i if in instead into is it its itself just keep let like made make makes making many may me
  might more most much must my need needs never next no nor not now of off on once one only or other our out over own
  please put rather really same see shall she should since so some still such sure take than that the their them then
  there these they thing things this those through time to too under until up us use used using very via want was way we
  well were what when whenever where whether which while who why will with within without would you your yours dont
  doesnt didnt cant wont isnt arent wasnt shouldnt mustnt e.g i.e eg ie`.split(/\s+/),
);

const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}'’]*/gu;

/** The content words of a text, in order and in lower case. */
export function topicWords(text: string): readonly string[] {
  return [...text.toLowerCase().matchAll(TOKEN)]
    .map(([word]) => word.replace(/['’](?:s|re|ve|ll|d|m)$/, '').replace(/['’]/g, ''))
    .filter((word) => word.length > 1 && !STOP.has(word));
}

/** Their stems, for comparing. */
export const topicStems = (text: string): ReadonlySet<string> =>
  new Set(topicWords(text).map(stemInflection));

/** The most frequent content words, the earlier first among equals. */
export function keywordsOf(text: string, most = 12): readonly string[] {
  const counts = new Map<string, { readonly word: string; count: number }>();
  for (const word of topicWords(text)) {
    if (word.length < 3 || word.length > 40) continue;
    const seen = counts.get(stemInflection(word));
    if (seen === undefined) counts.set(stemInflection(word), { word, count: 1 });
    else seen.count++;
  }
  return [...counts.values()]
    .sort((a, b) => b.count - a.count)
    .slice(0, most)
    .map(({ word }) => word);
}
