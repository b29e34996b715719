type Random = () => number;

/** What an unbounded repetition adds at most. */
const MORE = 8;
const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const WORD = `${LOWER}${LOWER.toUpperCase()}${DIGITS}_`;
const CLASSES: Readonly<Record<string, string>> = { d: DIGITS, w: WORD, s: ' ', n: '\n', t: '\t', r: '\r' };
/** Signs that match a place and no character. */
const ANCHORS = '^$';

/**
 * A random text that a regular expression of keys matches: literals, classes, groups, alternatives and repetitions. Throws on
 * anything else, such as a negated class.
 */
export function sampleRegex(source: string, random: Random): string {
  let at = 0;
  const peek = (): string => source.charAt(at);
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];

  const escaped = (): string => {
    const letter = source.charAt(at++);
    if (letter === 'x') {
      at += 2;
      return String.fromCharCode(Number.parseInt(source.slice(at - 2, at), 16));
    }
    return CLASSES[letter] ?? letter;
  };

  const classCharacters = (): string => {
    if (peek() === '^') throw new Error(`a negated class: ${source}`);
    let characters = '';
    while (peek() !== ']') {
      if (at >= source.length) throw new Error(`an open class: ${source}`);
      const character = source.charAt(at++);
      const first = character === '\\' ? escaped() : character;
      const isRange = first.length === 1 && peek() === '-' && source.charAt(at + 1) !== ']';
      if (!isRange) {
        characters += first;
        continue;
      }
      at++;
      const last = source.charAt(at) === '\\' ? source.charAt(++at) : source.charAt(at);
      at++;
      for (let code = first.charCodeAt(0); code <= last.charCodeAt(0); code++)
        characters += String.fromCharCode(code);
    }
    at++;
    return characters;
  };

  /** How often the part before is repeated. */
  const repetition = (): number => {
    const counted = /^\{(\d+)(,(\d*))?\}/.exec(source.slice(at));
    const sign = peek();
    let [least, most] = [1, 1];
    if (counted) {
      least = Number(counted[1]);
      most = counted[2] === undefined ? least : Number(counted[3] || least + MORE);
      at += counted[0].length;
    } else if ('?*+'.includes(sign) && sign !== '') {
      [least, most] = sign === '?' ? [0, 1] : [sign === '*' ? 0 : 1, MORE];
      at++;
    }
    if (peek() === '?') at++;
    return least + Math.floor(random() * (most - least + 1));
  };

  /** Reads one part, and returns how it is sampled: a repeated part is sampled anew each time. */
  const part = (): (() => string) => {
    const character = source.charAt(at++);
    if (character === '(') {
      at += /^\?(?:[ims-]*:|P?<\w+>)|^\?[ims-]+(?=\))/.exec(source.slice(at))?.[0].length ?? 0;
      const inner = alternatives();
      at++;
      return inner;
    }
    if (character === '[') {
      const characters = [...classCharacters()];
      return () => pick(characters) ?? '';
    }
    if (character === '\\') {
      if ('bBzA'.includes(peek())) {
        at++;
        return () => '';
      }
      const characters = [...escaped()];
      return () => pick(characters) ?? '';
    }
    if (ANCHORS.includes(character)) return () => '';
    return () => (character === '.' ? (pick([...WORD]) ?? '') : character);
  };

  const alternatives = (): (() => string) => {
    const choices: (() => string)[][] = [[]];
    while (at < source.length && peek() !== ')') {
      if (peek() === '|') {
        at++;
        choices.push([]);
        continue;
      }
      const one = part();
      const times = repetition();
      choices.at(-1)?.push(() => Array.from({ length: times }, one).join(''));
    }
    return () => (pick(choices) ?? []).map((sample) => sample()).join('');
  };

  return alternatives()();
}
