import { searchTerms } from './terms.ts';

/** Stems of words that carry on a conversation. */
const CHAT: ReadonlySet<string> = new Set(
  `hello hi hey hiya yo greet morn afternoon even night bye goodbye thank thanks thx ty cheer great good nice cool
  awesome perfect excellent amaz lovely fine ok okay okey k yep yup yeah yea nope nah sure right correct agree exactly
  continue continu proceed next again more ahead wait stop cancel sorry welcome lol haha hmm oh ah wow start begin test
  try back today tomorrow help question ask tell chat talk say feel doe bot assistant ai claude gpt friend everyone
  there look work sound happy day week weekend time minute second moment bit little anything nothing everything`.split(
    /\s+/,
  ),
);

/** Whether a message contains nothing that a lesson could be about. */
export function isSmallTalk(text: string): boolean {
  const { words, names } = searchTerms(text);
  return names.length === 0 && words.every((word) => CHAT.has(word));
}

/** In a longer message the first words do not tell the kind of request. */
const MOST_CHARACTERS = 240;
const TELL =
  /^\W*(?:(?:please|pls|can you|could you|hey|hi|ok)\W+){0,3}(?:explain|compare|define|recommend|brainstorm)\b/i;
const TELL_ANYWHERE =
  /\b(?:difference between|vs|versus|poem|haiku|limerick|joke|riddle|lyrics|in simple (?:words|terms)|pros and cons|your opinion|short answer|explain(?:ed)? to (?:a|an|my|our|me|the))\b/i;
const LOOK_UP =
  /^\W*(?:what|whats|which|who|how (?:many|much|long|big|do i|do you)|is there|are there|list|show|name)\b/i;

/**
 * A penalty for questions and chat, subtracted from the evidence: lessons are about doing work, and a request for an
 * explanation, a joke or a fact mentions the same things.
 */
export function chatPenalty(text: string): number {
  if (text.length > MOST_CHARACTERS) return 0;
  if (TELL.test(text) || TELL_ANYWHERE.test(text)) return 3;
  return LOOK_UP.test(text) ? 1 : 0;
}
