/** Mulberry32: the same numbers on every machine, so that measurements do not depend on chance. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const ONSETS = ['b', 'br', 'c', 'ch', 'd', 'f', 'g', 'h', 'l', 'm', 'n', 'p', 'qu', 'r', 's', 'st', 't', 'v'];
const RHYMES = ['a', 'al', 'an', 'e', 'en', 'er', 'i', 'in', 'ing', 'o', 'on', 'or', 'u', 'um', 'y'];

const WORDS: readonly string[] = (() => {
  const random = createRandom(1);
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? '';
  return Array.from({ length: 2000 }, () => {
    const syllables = 1 + Math.floor(random() * 3);
    return Array.from({ length: syllables }, () => pick(ONSETS) + pick(RHYMES)).join('');
  });
})();

/** Endless ASCII prose, a given number of characters at a time; it compresses about as well as English. */
export function createText(seed: number): (length: number) => string {
  const random = createRandom(seed);
  return (length) => {
    let text = '';
    // Squared, so that few words are frequent and many are rare, as in natural language.
    while (text.length < length) text += `${WORDS[Math.floor(random() ** 2 * WORDS.length)]} `;
    return text.slice(0, length);
  };
}
