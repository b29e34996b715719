/** Longer messages say more than what they begin with. */
const MOST_CHARACTERS = 240;
const TELL =
  /^\W*(?:(?:please|pls|can you|could you|hey|hi|ok)\W+){0,3}(?:explain|compare|define|recommend|brainstorm)\b/i;
const TELL_ANYWHERE =
  /\b(?:difference between|vs|versus|poem|haiku|limerick|joke|riddle|lyrics|in simple (?:words|terms)|pros and cons|your opinion|short answer|explain(?:ed)? to (?:a|an|my|our|me|the))\b/i;
const LOOK_UP =
  /^\W*(?:what|whats|which|who|how (?:many|much|long|big|do i|do you)|is there|are there|list|show|name)\b/i;

/**
 * How much less a message fits than its words and its meaning say: a lesson is about getting something done, and who
 * wants to be told, amused or to look something up names the same things. To be taken off the evidence.
 */
export function doubtOf(text: string): number {
  if (text.length > MOST_CHARACTERS) return 0;
  if (TELL.test(text) || TELL_ANYWHERE.test(text)) return 3;
  return LOOK_UP.test(text) ? 1 : 0;
}
