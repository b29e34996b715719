/** What was made of texts, by the text; the least recently used is dropped once it holds about that many characters. */
interface TextMemo<V> {
  get(text: string): V | undefined;
  set(text: string, value: V): void;
}

const MOST_CHARACTERS = 1_000_000;
/** What an entry costs beside its text. */
const ENTRY = 100;

/**
 * For pure functions that read the same text again and again, such as a tool's result that every later request of a session repeats.
 * Approximate LRU with two maps, as in `lru-map`, but by the length of the texts: one is as long as a whole log.
 */
export function createTextMemo<V>(mostCharacters = MOST_CHARACTERS): TextMemo<V> {
  let young = new Map<string, V>();
  let old = new Map<string, V>();
  let held = 0;
  const set = (text: string, value: V): void => {
    if (text.length > mostCharacters / 2) return;
    if (!young.has(text)) held += text.length + ENTRY;
    young.set(text, value);
    if (held < mostCharacters / 2) return;
    old = young;
    young = new Map();
    held = 0;
  };
  return {
    set,
    get: (text) => {
      const value = young.get(text);
      if (value !== undefined) return value;
      const earlier = old.get(text);
      if (earlier !== undefined) set(text, earlier);
      return earlier;
    },
  };
}

/** The same pure function, which is not asked again about a text that it was asked about a moment ago. */
export function memoByText<V extends {}>(make: (text: string) => V): (text: string) => V {
  const memo = createTextMemo<V>();
  return (text) => {
    const known = memo.get(text);
    if (known !== undefined) return known;
    const value = make(text);
    memo.set(text, value);
    return value;
  };
}
