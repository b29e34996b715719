/** Words that mean later work and nothing else, wherever they stand, and words that do so at the beginning or the end of an order. */
export const FOR_LATER: readonly RegExp[] = [
  /\b(?:from (?:now|today|here) on|for the future|next time(?! i\b| we\b| it\b)|as a rule|house rule|ab (?:jetzt|sofort|heute)|kunftig|in zukunft|desormais|dorenavant|a partir de maintenant|a l'avenir|a partir de ahora|(?:de ahora )?en adelante)\b/,
  /^(?:and |but |also,? |please |pls )*(?:in (?:the )?future|going forward)\b|^(?:\w+ ){0,2}(?:could|can|would|please|pls) (?:you )?(?!.*\b(?:so that|in case)\b).{0,80}\b(?:in (?:the )?future|going forward)\b|, (?:in (?:the )?future|going forward)(?: please)?[.!]*$/,
];

const AT_THE_END = /\b(?:from (?:now|today) on|going forward|in (?:the )?future)[.!]*$/;

/** Whether it says in so many words that it is for later work. */
export const isSaidForLater = (folded: string): boolean =>
  AT_THE_END.test(folded) || FOR_LATER.some((pattern) => pattern.test(folded));

/** "Write commit messages in English from now on": no single task, unless it is about a text that says so. */
export const isStandingInstruction = (folded: string): boolean =>
  AT_THE_END.test(folded) && !NAMES_TEXT.test(folded) && !quotesText(folded);

const NAMES_TEXT = /\b(?:note|notice|text|comment|banner|slide)\b/;

/** It tells what a text is to say: what holds from now on there is no rule. */
export const quotesText = (folded: string): boolean =>
  /\b(?:that (?:we|i|they|he|she|you|our|the|it|says?|reads?)|saying|says?|tells?|dass|dit que|dice que)\b/.test(
    folded,
  );

/** Where a sentence goes on with what holds from now on. */
const LATER_CLAUSE =
  /(?<=[,;]| [-–—]) (?=(?:(?:and|but|also|so|please|und|et|y) ){0,3}(?:from (?:now|today|here) on|going forward|in (?:the )?future|ab (?:jetzt|sofort)|in zukunft|désormais|dorénavant|à l'avenir|a partir de ahora),? \p{L})/giu;

/** "Sort the rows, and from now on use ISO dates": a task, and a rule. Letter by letter but for the blank between them. */
export function splitLaterClause(sentence: string): readonly string[] {
  const { index } = [...sentence.matchAll(LATER_CLAUSE)].at(-1) ?? {};
  return index === undefined || quotesText(sentence.slice(0, index).toLowerCase())
    ? [sentence]
    : [sentence.slice(0, index), sentence.slice(index)];
}
