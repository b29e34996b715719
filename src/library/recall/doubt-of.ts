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
export function doubtOf(text: string): number {
  if (text.length > MOST_CHARACTERS) return 0;
  if (TELL.test(text) || TELL_ANYWHERE.test(text)) return 3;
  return LOOK_UP.test(text) ? 1 : 0;
}
