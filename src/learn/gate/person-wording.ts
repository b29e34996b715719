import { splitFoldedSentences } from '../../text/sentences.ts';
import { topicStems } from '../../text/topic-words.ts';
import { foldedWords } from './normalize-text.ts';
import type { LineMeaning } from './similar-meaning.ts';

/** The share of a line's words that one message must have for the line to be its rewording. */
const SHARE_OF_STEMS = 0.7;
const FEWEST_STEMS = 2;
/** The cosine from which a line is a close rewording of a sentence. */
const CLOSE = 0.6;
const NOT =
  /\b(?:not|never|no|without|avoid\w*|don't|doesn't|isn't|aren't|nicht|nie|niemals|kein\w*|ne|pas|jamais|sin|nunca|не|без)\b|n't\b|[不别没勿]/;
/** "In cents, never in euros" forbids the euros alone. */
const CLAUSE_ENDS = /[,;:]\s|\s(?:but|sondern|aber|mais|pero)\s|[，；]/;
/** Says when, and not what to do. */
const SITUATION = /^(?:when|whenever|before|after|while|if|once)\b[^,:;]{1,200}$/;
/** Words around a rule that add nothing to it. */
const FRAME =
  /^[\s#>*+-]{0,6}(?:\d{1,2}[.)]\s+)?(?:example|anti-?pattern|note|rule|beispiel|exemple|ejemplo):?\s+/;

/**
 * Whether a line only says what a person or a verifier said: it stands in their text, has nearly all its words from one
 * message of theirs, or is close to one of their sentences; and it forbids what they forbid.
 */
export function createWordingFinder(firstParty: readonly string[]): (line: LineMeaning) => boolean {
  const messages = firstParty.map((text) => ({
    text: foldedWords(text).join(' '),
    clauses: splitFoldedSentences(text)
      .flatMap((sentence) => sentence.split(CLAUSE_ENDS))
      .map((clause) => ({ stems: topicStems(clause), isNegative: NOT.test(clause) })),
  }));
  return ({ line, own, outside, ownSentence }) => {
    const said = line.replace(FRAME, '');
    const words = foldedWords(said).join(' ');
    if (words === '') return true;
    if (messages.some(({ text }) => ` ${text} `.includes(` ${words} `))) return true;
    const isNegative = NOT.test(said);
    if (own >= CLOSE && own >= outside && NOT.test(ownSentence) === isNegative) return true;
    const stems = topicStems(said);
    const isSituation = SITUATION.test(said);
    const fewest = isSituation ? 1 : FEWEST_STEMS;
    if (stems.size < fewest) return false;
    return messages.some(({ clauses }) => {
      const all = new Set(clauses.flatMap((clause) => [...clause.stems]));
      const shared = [...stems].filter((stem) => all.has(stem));
      if (shared.length < fewest || shared.length < stems.size * SHARE_OF_STEMS) return false;
      const about = clauses.filter((clause) => shared.some((stem) => clause.stems.has(stem)));
      return isSituation || about.some((clause) => clause.isNegative === isNegative);
    });
  };
}
