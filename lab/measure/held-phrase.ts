import { containsPhrase } from '../../src/text/contains-phrase.ts';

/** Lower case, plain quotes, single blanks, no marks of emphasis; line ends stay. */
export const foldPhrase = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/["\u201c\u201d\u201e*_`]/g, '')
    .replace(/[^\S\n]+/g, ' ')
    .trim();

/** Directly before a word, at most three words away: the speaker rejects it. */
const REJECTED_BEFORE = new RegExp(
  `(?:${[
    String.raw`\b(?:not|never|don't|do not)(?! (?:ever )?forget\b)`,
    String.raw`\b(?:no|no longer|instead of|rather than|without|from(?! now| today)|replaces?d?|drop(?:ped)?|stop(?:ped)?(?: using)?|isn't|aren't|doesn't|won't)`,
    String.raw`\b(?:nicht(?: mehr)?|nie(?:mals)?|kein(?:e[nmrs]?)?|(?:an)?statt|von(?! jetzt| nun| heute)|ohne)`,
    String.raw`\b(?:pas|jamais|n'\S+ plus|plus(?= l[ea'])|au lieu de|plutôt que|sans)`,
    String.raw`\b(?:en vez de|en lugar de|nunca|ya no|sin)`,
  ].join('|')})(?: [^ .,;:]+){0,3} ?$`,
);
/** Directly behind it. */
const REJECTED_AFTER =
  /^(?: [^ .,;:]+){0,4} (?:any ?more|no longer|is gone|are gone|is dead|is wrong|was wrong|nicht mehr|ist weg|ya no|n'est plus|n'existe plus)\b/;

/** Whether a sentence says the phrase anywhere without rejecting it. */
function holds(sentence: string, phrase: string): boolean {
  for (let at = sentence.indexOf(phrase); at >= 0; at = sentence.indexOf(phrase, at + 1)) {
    const [before, after] = [sentence.slice(0, at), sentence.slice(at + phrase.length)];
    const isWord = containsPhrase(`${before.slice(-1)}${phrase}${after.slice(0, 2)}`, phrase);
    if (isWord && !REJECTED_BEFORE.test(before) && !REJECTED_AFTER.test(after)) return true;
  }
  return false;
}

const SENTENCE_END = /(?<=[.!?;])\s+|\n+/;

/** Both folded: whether a text says the phrase in some sentence without rejecting it ("tabs, not spaces" does not hold spaces). */
export const holdsPhrase = (text: string, phrase: string): boolean =>
  SENTENCE_END.test(phrase)
    ? // "Dr. Weber" is in no single piece of a text that is cut at full stops.
      holds(text.replace(/\s+/g, ' '), phrase.replace(/\s+/g, ' '))
    : text.split(SENTENCE_END).some((sentence) => holds(sentence, phrase));
