/** Longer messages explain something themselves. */
const MOST_CHARACTERS = 240;
const START =
  /^\W*(?:(?:please|pls|can you|could you|hey|hi|ok)\W+){0,3}(?:explain|compare|define|recommend|brainstorm)\b/i;
const ANYWHERE =
  /\b(?:difference between|vs|versus|poem|haiku|limerick|joke|riddle|lyrics|in simple (?:words|terms)|pros and cons|your opinion|short answer|explain(?:ed)? to (?:a|an|my|our|me|the))\b/i;

/** Whether a message wants to be told or amused, and not to have something done. What lessons are about is mentioned there, too. */
export const asksToBeTold = (text: string): boolean =>
  text.length <= MOST_CHARACTERS && (START.test(text) || ANYWHERE.test(text));
