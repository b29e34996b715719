import type { FailureCase } from '../../core/learn.ts';
import {
  areTwoThings,
  isAlike,
  isSameInWords,
  type Likeness,
  type RuleWords,
  UNKNOWN_LIKENESS,
} from '../compare-words.ts';
import { isAboutSame, shareMatter } from './matter.ts';
import { readSayings, type Saying } from './sayings.ts';
import { takesBack } from './take-back.ts';

/** All that was said on one matter, the words that hold now first. */
export type Sayings = readonly [Saying, ...Saying[]];

interface MatterGroup {
  readonly sayings: Sayings;
  /** Failures about which the same person said otherwise before. */
  readonly takenBack: readonly FailureCase[];
}

/** Newest first. Turns that were appraised at once have the same time: then the later one of the material is newer. */
const inOrder = (
  failures: readonly FailureCase[],
  material: readonly FailureCase[],
): readonly FailureCase[] => {
  const place = new Map(material.map(({ turn }, index) => [turn, index]));
  return failures.toSorted((a, b) => b.at - a.at || (place.get(b.turn) ?? 0) - (place.get(a.turn) ?? 0));
};

/** Everything that was said, in the order in which it is grouped. */
export const sayingsIn = (
  failures: readonly FailureCase[],
  material: readonly FailureCase[],
): readonly Saying[] => inOrder(failures, material).flatMap(readSayings);

/**
 * Groups sayings on the same matter. The newest are read first, the owner's before others: a saying that a newer one takes back
 * is left out, whether it was said in the same conversation or in another.
 */
export function groupSayings(
  failures: readonly FailureCase[],
  material: readonly FailureCase[],
  likeness: Likeness = UNKNOWN_LIKENESS,
): readonly MatterGroup[] {
  const newest = sayingsIn(failures, material).toSorted(
    (a, b) => Number(isToldByPerson([b])) - Number(isToldByPerson([a])),
  );
  const groups: { readonly sayings: [Saying, ...Saying[]]; readonly takenBack: FailureCase[] }[] = [];
  const isOver = (a: Saying, b: Saying): boolean =>
    a.failure !== b.failure &&
    (isToldByPerson([a]) || !isToldByPerson([b])) &&
    (a.isStanding || !b.isStanding || a.failure.session === b.failure.session) &&
    takesBack(a, b);
  for (const one of newest) {
    const newer = groups.find(({ sayings: [lead] }) => isOver(lead, one));
    if (newer !== undefined) {
      newer.takenBack.push(one.failure);
      continue;
    }
    // Two lines of one feedback are meant as two, unless they are the same words.
    const group =
      groups.find(({ sayings: others }) =>
        others.some(
          (other) =>
            other.matter.print === one.matter.print ||
            (other.failure !== one.failure && isSameInWords(other, one)) ||
            isRepeatedLoosely(other, one, likeness),
        ),
      ) ?? groups.find(({ sayings: others }) => isAlikeMost(others, one, likeness));
    if (group === undefined) groups.push({ sayings: [one], takenBack: [] });
    else group.sayings.push(one);
  }
  return groups.map(({ sayings: group, takenBack }) => ({ sayings: fullestFirst(group), takenBack }));
}

/** What was said about one answer each, in two sessions. */
const isRepeatedLoosely = (a: Saying, b: Saying, likeness: Likeness): boolean =>
  !a.isStanding && !b.isStanding && a.failure.session !== b.failure.session && isSaidAgain(a, b, likeness);

/** Of the same meaning as at least half of what others said in other words: like by like, everything would become one rule. */
export const isAlikeMost = (
  others: readonly (RuleWords & SayingPlace)[],
  one: Saying,
  likeness: Likeness,
  wasShown = false,
): boolean =>
  one.isCase !== true &&
  (one.isStanding || others.some((other) => other.isStanding !== false)) &&
  2 *
    others.filter(
      (other) =>
        other.failure !== one.failure && other.isCase !== true && isAlike(other, one, likeness, wasShown),
    ).length >=
    others.length;

/** The quotes of a lesson have neither. */
type SayingPlace = Partial<Pick<Saying, 'failure' | 'isCase' | 'isStanding'>>;

const FEW_WORDS = 14;
const SAME_SUBJECT = 0.4;
const isShort = ({ quote }: SaidWords): boolean => quote.split(/\s+/).length <= FEW_WORDS;

/**
 * Whether two sessions said the same about an answer each: in nearly the same words, which must not mean something else, or in words
 * of the same meaning. Only short words: long ones are about their case, and two long ones of one project always share something.
 */
export function isSaidAgain(a: SaidWords, b: SaidWords, likeness: Likeness): boolean {
  if (!isShort(a) || !isShort(b)) return a.matter.print === b.matter.print;
  if (areTwoThings(a.quote, b.quote)) return false;
  const near = likeness(a.quote, b.quote);
  const isOther = near !== undefined && near.nearest < SAME_SUBJECT;
  if (!isOther && (shareMatter(a.matters, b.matters) || isAboutOne(a, b))) return true;
  return !a.isCase && !b.isCase && isAlike(a, b, likeness);
}

const isAboutOne = (a: SaidWords, b: SaidWords): boolean =>
  !(a.isRemark && b.isRemark) &&
  (isAboutSame(a.matter, b.matter) ||
    a.matters.some((one) => b.matters.some((other) => isAboutSame(one, other))));

/** What comparing sayings needs of them. */
export type SaidWords = RuleWords & Pick<Saying, 'matter' | 'isRemark' | 'isCase'>;

/** Words for later work lead, the newest first, unless an older saying has all of them and more. */
function fullestFirst(said: Sayings): Sayings {
  const standing = said.find(({ isStanding }) => isStanding) ?? said[0];
  const group: Sayings = [standing, ...said.filter((one) => one !== standing)];
  const [newest] = group;
  const fuller = group.find(
    ({ matter: { terms } }) =>
      terms.size > newest.matter.terms.size &&
      [...newest.matter.terms.keys()].every((term) => terms.has(term)),
  );
  return fuller === undefined ? group : [fuller, ...group.filter((one) => one !== fuller)];
}

const FEWEST_TERMS = 2;

/** Words for later work are enough at once; what was said about one answer counts when two sessions had to say it. */
export const isEnough = (group: Sayings): boolean =>
  group.some(({ isStanding }) => isStanding) ||
  (new Set(group.map(({ failure }) => failure.session)).size > 1 && group[0].matter.subjects >= FEWEST_TERMS);

/** A saying of the chat alone is no standing order: an agent with a key could have typed it. */
export const isToldByPerson = (group: readonly Saying[]): boolean =>
  group.some(({ failure: { source } }) => source === 'person' || source === 'verifier');
