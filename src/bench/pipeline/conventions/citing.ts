import { asString, type Json, type JsonObject } from '../../../core/json.ts';
import { type Convention, hasMarks, mapProse, objectsIn, type Place, proseOf } from '../convention.ts';
import { keysIn, textsIn } from '../prose.ts';
import { whyExcluded } from '../stages/literature.ts';

const CITED = /\[([a-z]{3,20}\d{2}), (\d{4})\]/g;

/** The text without its correct citations. */
const withoutCitations = (text: string, { corpus }: Place): string =>
  text.replace(CITED, (whole, key: string, year: string) =>
    corpus.find(key)?.year === Number(year) ? '' : whole,
  );

export const citeWithYear: Convention = {
  id: 'cite-with-year',
  title: 'citations carry the year',
  stages: ['gap-analysis', 'introduction', 'related-work'],
  demand: 'Write every citation in the text as [key, year], such as [okafor19, 2019].',
  isKept: (output, place) =>
    proseOf(output).every((text) => keysIn(withoutCitations(text, place)).length === 0),
  keep: (output, { corpus }) =>
    mapProse(output, (text) =>
      text.replace(/\(([a-z]{3,20}\d{2})\)/g, (whole, key: string) => {
        const year = corpus.find(key)?.year;
        return year === undefined ? whole : `[${key}, ${year}]`;
      }),
    ),
  isTaughtBy: hasMarks('[key, year]'),
};

/** The lists of works in an output, as citation keys. */
const listsOf = ({ include, rows, paragraphs }: JsonObject): readonly (readonly string[])[] => [
  textsIn(include) ?? [],
  objectsIn(rows).map(({ key }) => asString(key) ?? ''),
  (textsIn(paragraphs) ?? []).map((text) => keysIn(text)[0] ?? ''),
];

const yearOf = (key: string, { corpus }: Place): number => corpus.find(key)?.year ?? 0;

export const oldestFirst: Convention = {
  id: 'oldest-first',
  title: 'works are listed oldest first',
  stages: ['screening', 'evidence-extraction', 'related-work'],
  demand: 'List the works oldest first, by year.',
  isKept: (output, place) =>
    listsOf(output).every((keys) =>
      keys.every((key, nth) => nth === 0 || yearOf(keys[nth - 1] ?? '', place) <= yearOf(key, place)),
    ),
  keep: (output, place) => {
    const byYear = <T extends Json>(list: readonly T[], keyOf: (one: T) => string): readonly T[] =>
      [...list].sort((a, b) => yearOf(keyOf(a), place) - yearOf(keyOf(b), place));
    const { include, rows, paragraphs } = output;
    return {
      ...output,
      ...(include === undefined ? {} : { include: byYear(textsIn(include) ?? [], (key) => key) }),
      ...(rows === undefined ? {} : { rows: byYear(objectsIn(rows), ({ key }) => asString(key) ?? '') }),
      ...(paragraphs === undefined
        ? {}
        : { paragraphs: byYear(textsIn(paragraphs) ?? [], (text) => keysIn(text)[0] ?? '') }),
    };
  },
  isTaughtBy: hasMarks('oldest first'),
};

const CODES = { years: 'E1', field: 'E2' } as const;
const codeOf = (key: Json | undefined, { corpus }: Place): string | undefined => {
  const work = corpus.find(asString(key) ?? '');
  return work && CODES[whyExcluded(work, corpus)];
};

export const reasonCodes: Convention = {
  id: 'reason-codes',
  title: 'exclusions carry a code',
  stages: ['screening'],
  demand:
    'Begin the reason of every exclusion with the code E1 (of other years) or E2 (about another field).',
  isKept: (output, place) =>
    objectsIn(output.exclude).every(({ key, reason }) =>
      (asString(reason) ?? '').startsWith(codeOf(key, place) ?? ''),
    ),
  keep: (output, place) => ({
    ...output,
    exclude: objectsIn(output.exclude).map(({ key, reason, ...rest }) => ({
      ...rest,
      key,
      reason: `${codeOf(key, place) ?? ''} ${asString(reason) ?? ''}`,
    })),
  }),
  isTaughtBy: hasMarks('E1', 'E2'),
};
