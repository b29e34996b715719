import { isOfTheMoment } from '../../reader/cues/standing-phrases.ts';
import { foldAccents } from '../../reader/own-sentences.ts';

/** What is done once when it is asked for: said twice it is no rule for later work. */
const ONE_TIME =
  /\b(?:commit|push|merge|deploy|release|publish|delete|remove|drop|reset|rebase|revert|continue|weiter|mach weiter)\b|(?:提交|推送|删除|继续|続けて|계속)/u;

const MOST_WORDS = 14;
/** A file, an address, an id or a number of a list: it is about the case at hand. */
const OF_A_CASE =
  /[\w.~-]+\/[\w.-]+\/|https?:|@\w|#\d|\.\w{2,4}:\d|\b\d{4,}\b|`|:$|[?？]$|\b(?!need|embed|speed|feed|red\b|bed\b)[a-z]{3,}ed\b|^(?:ok|okay|k|mm+k|hm+|i|or|then)\b/;
const MOST_WORDS_OF_CHANGE = 30;
/** A file, an address or an id: it is about the case at hand, also where it changed an answer. */
const NAMES_A_CASE = /[\w.~-]+\/[\w.-]+\/|https?:|@\w|\.\w{2,4}:\d|\b\d{4,}\b|[?？]$/;
/** In brackets as a whole: said beside the point. */
const ASIDE = /^[([（].*[)\]）][.!]?$/u;
/**
 * Whether a sentence, said after an answer without blame, could hold for other work: then it counts when another session says it
 * too. What is about one case, or is the next task, does not. Real chats are full of both.
 */
export function isRepeatable(sentence: string): boolean {
  const { whole, folded } = foldSentence(sentence);
  return (
    !ASIDE.test(whole) &&
    !ONE_TIME.test(folded) &&
    !OF_A_CASE.test(folded) &&
    !isOfTheMoment(folded) &&
    folded.split(' ').length <= MOST_WORDS &&
    (/\p{L}\S* \S/u.test(folded) || /\p{Lo}{5}/u.test(folded))
  );
}

/**
 * The same for a sentence that changed the answer before it. That it is about such answers is known, so that its words are not looked at
 * as closely: only what names one case, or is done once, is left out.
 */
export function isRepeatedChange(sentence: string): boolean {
  const { whole, folded } = foldSentence(sentence);
  return (
    !ASIDE.test(whole) &&
    !ONE_TIME.test(folded) &&
    !NAMES_A_CASE.test(folded) &&
    folded.split(' ').length <= MOST_WORDS_OF_CHANGE &&
    (/\p{L}\S* \S/u.test(folded) || /\p{Lo}{5}/u.test(folded))
  );
}

function foldSentence(sentence: string): { readonly whole: string; readonly folded: string } {
  const whole = foldAccents(sentence).replace(/\s+/g, ' ').trim();
  return { whole, folded: whole.replace(/^[\s("'“‘[{*_>–—-]+/, '') };
}
