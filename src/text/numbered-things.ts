/**
 * Things that a text is about and tells apart by a number: "the sums of ledger 2", "for client 14". A number in front of its noun is an
 * amount, and behind one of SETTINGS a value.
 */
export function numberedThings(text: string): readonly string[] {
  const folded = text.slice(0, LONGEST).toLowerCase();
  return [...folded.matchAll(THING)]
    .filter(([, noun = '']) => !SETTINGS.test(noun))
    .map(([, noun = '', number = '']) => `${noun} ${number}`);
}

/** Whether two texts are about things of one sort with other numbers. */
export const nameOtherThings = (a: readonly string[], b: readonly string[]): boolean =>
  a.some((one) => b.some((other) => sortOf(one) === sortOf(other))) && !a.some((one) => b.includes(one));

const LONGEST = 2000;
const sortOf = (thing: string): string => thing.slice(0, thing.lastIndexOf(' '));

const THING =
  /(?<!\p{L})(?:of|for|in|on|from|about|with|to|von|für|aus|bei|mit|auf|de|du|pour|dans|sur|en|para|em|do|da)\s+(?:(?:the|our|my|der|die|das|dem|den|le|la|les|el|los|las|o|a|os|as)\s+)?(\p{L}{3,30})\s+(?:no\.?\s*|nr\.?\s*|#)?(\d{1,6})(?![\d%]|[.,:/-]\d|\s+\p{L}{1,3}(?!\p{L})(?<!here|and|but|not))/gu;
/** What stands behind them is chosen, and chosen anew. */
const SETTINGS =
  /^(?:port|version|level|line|lines|length|width|height|size|column|node|nodejs|python|java|ruby|php|angular|react|vue|django|rails|postgres|postgresql|ubuntu|debian|android|ios|windows|least|most|about|around|over|under|than|top|zeile|zeilen|breite|stufe|ligne|niveau|puerto|nivel)$/;
