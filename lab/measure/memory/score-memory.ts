import { wilsonInterval } from '../../../src/stats/interval.ts';
import { containsPhrase } from '../../../src/text/contains-phrase.ts';
import { plural } from '../../../src/text/phrases.ts';
import { foldPhrase, holdsPhrase } from '../held-phrase.ts';
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

/** A prompt, or the reply of a model under it. */
export type ScoredPart = 'prompt' | 'reply';

/** Whether an entry can be right or wrong there: no prompt says "yes". */
export const isScored = ({ wanted, verdict }: MemoryEntry, part: ScoredPart): boolean =>
  part === 'reply' || verdict === undefined || wanted.length > 0;

/** How entries without a literal answer are scored, for the report; nothing where every entry has one. */
export function describeRules(entries: readonly MemoryEntry[], part: ScoredPart): readonly string[] {
  const abstentions = entries.filter(({ isAbstention }) => isAbstention);
  const free = abstentions.filter(({ mustNot }) => mustNot.length === 0).length;
  const unscored = entries.filter((entry) => !isScored(entry, part)).length;
  const inAll =
    free === 0 ? '' : `; ${plural(free, 'entry', 'entries')} without a phrase: right for every arm`;
  return [
    ...(abstentions.length === 0
      ? []
      : [
          `The answer is that nothing is known (${plural(abstentions.length, 'entry', 'entries')}): right where no phrase of \`must_not\` is shown as holding${inAll}.`,
        ]),
    ...(unscored === 0
      ? []
      : [
          `The answer is "yes" or "no" without \`accept\` (${plural(unscored, 'entry', 'entries')}): left out, no prompt says that.`,
        ]),
  ];
}

export function scoreMemory(
  { wanted, mustNot, verdict }: MemoryEntry,
  text: string,
  part: ScoredPart = 'prompt',
): MemoryScore {
  const words = foldPhrase(text);
  const has = (phrase: string): boolean => containsPhrase(words, foldPhrase(phrase));
  const saysVerdict = part === 'reply' && verdict !== undefined && has(verdict);
  const missing = saysVerdict ? [] : needed(wanted, verdict, part).filter((group) => !group.some(has));
  const present = mustNot.filter(has);
  const shown = present.filter((phrase) => holdsPhrase(words, foldPhrase(phrase)));
  const current = words.replace(EARLIER, '');
  return {
    isRight: missing.length === 0 && shown.length === 0,
    isStrict: missing.length === 0 && present.length === 0,
    missing,
    shown,
    earlier: shown.filter((phrase) => !holdsPhrase(current, foldPhrase(phrase))),
  };
}

/** A reply to a question of "yes" or "no" has to say it where nothing else is accepted. */
const needed = (
  wanted: MemoryEntry['wanted'],
  verdict: string | undefined,
  part: ScoredPart,
): MemoryEntry['wanted'] =>
  part === 'reply' && verdict !== undefined && wanted.length === 0 ? [[verdict]] : wanted;

/** A section of a lesson's body: its quotes up to the next heading or section. */
const EARLIER = /said earlier on the same matter:(?:\s*\n>[^\n]*)+/g;

/** One way to fill a prompt, with its scores in the order of the entries. */
export interface MemoryArm {
  readonly name: string;
  readonly scores: readonly MemoryScore[];
  /** The mean size of what it put into a prompt. */
  readonly tokens: number;
}

interface KindCount {
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
