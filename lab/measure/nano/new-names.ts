import type { Random } from '../../../src/base/random.ts';
import { FAMILY_NAMES, GIVEN_NAMES, PROJECTS } from '../../workdays/make-world/pools.ts';

/** Of all worlds, in small letters. */
export const NAMES: ReadonlySet<string> = new Set(
  [...GIVEN_NAMES, ...FAMILY_NAMES, ...PROJECTS].map((name) => name.toLowerCase()),
);
const ONSETS =
  'b c d f g h j k l m n p qu r s t v w x y z br ch cl cr dr fl fr gl gn gr kn ph pl pr sc sh sk sl sn sp st sw th tr wh hy'.split(
    ' ',
  );
const VOWELS = 'a e i o u a e i o ai ea ee ei ie io oo ou y ia uo'.split(' ');
const CODAS = [
  '',
  '',
  '',
  ...'n r l s t m d k x rn st nd lt nt rt rd ck ng ss ll tz ff rl sk lm y h'.split(' '),
];

/** A word that nobody has seen: what held-out names look like to a policy. */
export function newWord(random: Random): string {
  const syllables = 1 + random.below(3) + (random.below(3) === 0 ? 0 : 1);
  let word = '';
  for (let at = 0; at < Math.min(syllables, 3); at++)
    word +=
      (at === 0 && random.below(4) === 0 ? '' : (ONSETS[random.below(ONSETS.length)] ?? '')) +
      (VOWELS[random.below(VOWELS.length)] ?? '') +
      (CODAS[random.below(CODAS.length)] ?? '');
  return word.length < 3 ? `${word}na` : word.slice(0, 9);
}

/** Puts a new word for every name of the worlds, the same for the same name. */
export function createRenaming(random: Random): (text: string) => string {
  const given = new Map<string, string>();
  return (text) =>
    text.replace(/[A-Za-z]+/g, (word) => {
      const name = word.toLowerCase();
      if (!NAMES.has(name)) return word;
      const other = given.get(name) ?? newWord(random);
      given.set(name, other);
      return word === name ? other : other.charAt(0).toUpperCase() + other.slice(1);
    });
}
