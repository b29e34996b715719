/** Interjections before the statement, followed by punctuation: without it they may be part of the statement ("no tabs"). */
const CALLS =
  `feedback|incorrect|wrong|not correct|not quite|almost|close|failed|failure|fail|error|warning|note|reminder|hint|tip|rule|
house rule|policy|house style|style|convention|nope|no|sorry|hey|hi|hello|ok|okay|well|yes|thanks|thank you|good|great|nice|fyi|
important|nit|minor|comment|review|reviewer|verifier|checker|check failed|validation failed|validation error|assertionerror|
valueerror|as (?:i|we) said(?: before)?|like (?:i|we) said|again|also|finally|first|second|third|lastly|one more thing|
small thing|issue|problem|fix`.replaceAll('\n', '');
const CALL = new RegExp(`^(?:${CALLS})\\s*[:,.!–—-]+\\s+`, 'i');
const FILLER =
  /^(?:please|pls|kindly|also|and|but|so|then|again|still|next time|in (?:the )?future|from now on|going forward|as a rule|in general|generally|remember that|note that|keep in mind that|mind that|be aware that|i (?:said|told you|asked you)(?: to| that)?|you know that)[,:]?\s+/i;
const TAG =
  /^\[[^\]]{0,20}(?:feedback|fail|error|warn|note|check|review|verif|test|rule|lint)[^\]]{0,20}\][:\s]*/i;
const SHOUT = /^(?:FAIL(?:ED|URE)?|ERROR|WARN(?:ING)?|INVALID|NOT OK)\s+(?=\S)/;
const PLACE = /^(?:line \d+|[\w./-]+\.\w{1,5}:\d+(?::\d+)?)[:,]\s+/i;

/** The sentence without leading greetings, tags and "please". */
export function withoutLeadIn(said: string): string {
  let rest = said.trim();
  for (let round = 0; round < 6; round++) {
    const shorter = [TAG, CALL, FILLER, PLACE, SHOUT].reduce(
      (text, pattern) => text.replace(pattern, ''),
      rest,
    );
    if (shorter === rest || shorter === '') return rest;
    rest = shorter;
  }
  return rest;
}
