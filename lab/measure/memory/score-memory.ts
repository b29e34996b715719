import { wilsonInterval } from '../../../src/stats/interval.ts';
import { containsPhrase } from '../../../src/text/contains-phrase.ts';
import { markdownTable } from '../markdown.ts';
import { MEMORY_KINDS, type MemoryEntry } from './memory-set.ts';
import type { NothingMessage } from './nothing-set.ts';

/** How one text answers one entry: the block of a prompt, or a reply. */
export interface MemoryScore {
  readonly isRight: boolean;
  /** Right also if no word of `must_not` may occur, not even where the user rejects it ("tabs, not spaces"). */
  readonly isStrict: boolean;
  /** The groups of wanted phrases that are not there. */
  readonly missing: readonly (readonly string[])[];
  /** The phrases of `must_not` that it shows as holding. */
  readonly shown: readonly string[];
  /** Those of them that stand nowhere but under "Said earlier on the same matter", behind the newer words. */
  readonly earlier: readonly string[];
}

export function scoreMemory({ wanted, mustNot }: MemoryEntry, text: string): MemoryScore {
  const words = fold(text);
  const has = (phrase: string): boolean => containsPhrase(words, fold(phrase));
  const missing = wanted.filter((group) => !group.some(has));
  const present = mustNot.filter(has);
  const shown = present.filter((phrase) => isHeld(words, fold(phrase)));
  const current = words.replace(EARLIER, '');
  return {
    isRight: missing.length === 0 && shown.length === 0,
    isStrict: missing.length === 0 && present.length === 0,
    missing,
    shown,
    earlier: shown.filter((phrase) => !isHeld(current, fold(phrase))),
  };
}

/** A section of a lesson's body: its quotes up to the next heading or section. */
const EARLIER = /said earlier on the same matter:(?:\s*\n>[^\n]*)+/g;

const isHeld = (text: string, phrase: string): boolean =>
  text.split(/(?<=[.!?;])\s+|\n+/).some((sentence) => holds(sentence, phrase));

/** Lower case, plain quotes, single blanks, no marks of emphasis; line ends stay. */
const fold = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/["\u201c\u201d\u201e*_`]/g, '')
    .replace(/[^\S\n]+/g, ' ')
    .trim();

/** Directly before a word, at most three words away: the speaker rejects it. */
const REJECTED_BEFORE = new RegExp(
  `(?:${[
    String.raw`\b(?:not|never|don't|do not)(?! (?:ever )?forget\b)`,
    String.raw`\b(?:no|no longer|instead of|rather than|without|from(?! now| today)|replaces?d?|drop(?:ped)?|stop(?:ped)?(?: using)?|isn't|aren't|doesn't|won't)`,
    String.raw`\b(?:nicht(?: mehr)?|nie(?:mals)?|kein(?:e[nmrs]?)?|(?:an)?statt|von(?! jetzt| nun| heute)|ohne)`,
    String.raw`\b(?:pas|jamais|n'\S+ plus|plus(?= l[ea'])|au lieu de|plutôt que|sans)`,
    String.raw`\b(?:en vez de|en lugar de|nunca|ya no|sin)`,
  ].join('|')})(?: [^ .,;:]+){0,3} ?$`,
);
/** Directly behind it. */
const REJECTED_AFTER =
  /^(?: [^ .,;:]+){0,4} (?:any ?more|no longer|is gone|are gone|is dead|is wrong|was wrong|nicht mehr|ist weg|ya no|n'est plus|n'existe plus)\b/;

/** Whether a sentence says the phrase anywhere without rejecting it. */
function holds(sentence: string, phrase: string): boolean {
  for (let at = sentence.indexOf(phrase); at >= 0; at = sentence.indexOf(phrase, at + 1)) {
    const [before, after] = [sentence.slice(0, at), sentence.slice(at + phrase.length)];
    const isWord = containsPhrase(`${before.slice(-1)}${phrase}${after.slice(0, 2)}`, phrase);
    if (isWord && !REJECTED_BEFORE.test(before) && !REJECTED_AFTER.test(after)) return true;
  }
  return false;
}

/** One way to fill a prompt, with its scores in the order of the entries. */
export interface MemoryArm {
  readonly name: string;
  readonly scores: readonly MemoryScore[];
  /** The mean size of what it put into a prompt. */
  readonly tokens: number;
}

export interface KindCount {
  readonly kind: string;
  readonly entries: number;
  readonly right: number;
  readonly strict: number;
  readonly missed: number;
  readonly wronglyShown: number;
  /** Of these, those shown as said earlier only. */
  readonly earlier: number;
}

export function countKinds(
  entries: readonly MemoryEntry[],
  scores: readonly MemoryScore[],
): readonly KindCount[] {
  const found = new Set(entries.map(({ kind }) => kind));
  const known: readonly string[] = MEMORY_KINDS.filter((kind) => found.has(kind));
  const others = [...found].filter((kind) => !known.includes(kind));
  const count = (kind: string | undefined): KindCount => {
    const some = scores.filter((_, nth) => kind === undefined || entries[nth]?.kind === kind);
    return {
      kind: kind ?? 'all',
      entries: some.length,
      right: some.filter(({ isRight }) => isRight).length,
      strict: some.filter(({ isStrict }) => isStrict).length,
      missed: some.filter(({ missing }) => missing.length > 0).length,
      wronglyShown: some.filter(({ shown }) => shown.length > 0).length,
      earlier: some.filter(({ shown, earlier }) => shown.length > 0 && earlier.length === shown.length)
        .length,
    };
  };
  return [...[...known, ...others].map(count), count(undefined)];
}

const percent = (value: number): string => (100 * value).toFixed(0);
const share = (hits: number, of: number): string => {
  const { low, high } = wilsonInterval(hits, of);
  return `${hits} of ${of} (${percent(low)}–${percent(high)} %)`;
};

/** How many messages that teach nothing were learned from, by sort. */
export function reportNothing(
  messages: readonly NothingMessage[],
  learned: readonly { readonly message: NothingMessage; readonly notes: number }[],
  said: string,
): string {
  const sorts = [...new Set(messages.map(({ sort }) => sort))];
  const row = (name: string, of: readonly NothingMessage[]): readonly string[] => {
    const hits = learned.filter(({ message }) => of.includes(message));
    const noted = hits.filter(({ notes }) => notes > 0).length;
    return [name, share(noted, of.length), share(hits.length - noted, of.length)];
  };
  return [
    `### nothing.jsonl: ${messages.length} messages, said ${said}`,
    markdownTable(
      ['sort', 'left a note', 'left a lesson, as a correction'],
      [
        ...sorts.map((sort) =>
          row(
            sort,
            messages.filter((one) => one.sort === sort),
          ),
        ),
        row('all', messages),
      ],
    ),
  ].join('\n\n');
}

export function reportMemory(
  title: string,
  entries: readonly MemoryEntry[],
  arms: readonly MemoryArm[],
): string {
  const counted = arms.map(({ scores }) => countKinds(entries, scores));
  const kinds = counted[0]?.map(({ kind }) => kind) ?? [];
  const cell = (arm: number, kind: number): string => {
    const { right = 0, entries: of = 0 } = counted[arm]?.[kind] ?? {};
    return share(right, of);
  };
  const all = (key: 'strict' | 'missed' | 'wronglyShown' | 'earlier'): readonly string[] =>
    counted.map((rows) => String(rows.at(-1)?.[key] ?? 0));
  return [
    `### ${title}`,
    markdownTable(
      ['kind', ...arms.map(({ name }) => name)],
      [
        ...kinds.map((kind, at) => [kind, ...arms.map((_, arm) => cell(arm, at))]),
        ['all, answer missing', ...all('missed')],
        ['all, unwanted shown as holding', ...all('wronglyShown')],
        ['of these, only as said earlier', ...all('earlier')],
        ['all, right by bare words', ...all('strict')],
        ['tokens in the prompt, mean', ...arms.map(({ tokens }) => String(Math.round(tokens)))],
      ],
    ),
  ].join('\n\n');
}
