import { asArray, asString, type Json, type JsonObject } from '../../../src/core/json.ts';
import { answerSentences, asPercent, citationKeysIn, textList } from './answer-text.ts';
import {
  type Convention,
  type ConventionContext,
  hasMarks,
  mapProse,
  objectList,
  proseOf,
} from './convention.ts';
import { whyExcluded } from './stages/literature.ts';

const CITED = /\[([a-z]{3,20}\d{2}), (\d{4})\]/g;

/** The text without its correct citations. */
const withoutCitations = (text: string, { corpus }: ConventionContext): string =>
  text.replace(CITED, (whole, key: string, year: string) =>
    corpus.find(key)?.year === Number(year) ? '' : whole,
  );

const citeWithYear: Convention = {
  id: 'cite-with-year',
  title: 'citations carry the year',
  stages: ['gap-analysis', 'introduction', 'related-work'],
  demand: 'Write every citation in the text as [key, year], such as [okafor19, 2019].',
  isKept: (output, place) =>
    proseOf(output).every((text) => citationKeysIn(withoutCitations(text, place)).length === 0),
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
  textList(include) ?? [],
  objectList(rows).map(({ key }) => asString(key) ?? ''),
  (textList(paragraphs) ?? []).map((text) => citationKeysIn(text)[0] ?? ''),
];

const yearOf = (key: string, { corpus }: ConventionContext): number => corpus.find(key)?.year ?? 0;

const oldestFirst: Convention = {
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
      ...(include === undefined ? {} : { include: byYear(textList(include) ?? [], (key) => key) }),
      ...(rows === undefined ? {} : { rows: byYear(objectList(rows), ({ key }) => asString(key) ?? '') }),
      ...(paragraphs === undefined
        ? {}
        : { paragraphs: byYear(textList(paragraphs) ?? [], (text) => citationKeysIn(text)[0] ?? '') }),
    };
  },
  isTaughtBy: hasMarks('oldest first'),
};

const CODES = { years: 'E1', field: 'E2' } as const;
const codeOf = (key: Json | undefined, { corpus }: ConventionContext): string | undefined => {
  const work = corpus.find(asString(key) ?? '');
  return work && CODES[whyExcluded(work, corpus)];
};

const reasonCodes: Convention = {
  id: 'reason-codes',
  title: 'exclusions carry a code',
  stages: ['screening'],
  demand:
    'Begin the reason of every exclusion with the code E1 (of other years) or E2 (about another field).',
  isKept: (output, place) =>
    objectList(output.exclude).every(({ key, reason }) =>
      (asString(reason) ?? '').startsWith(codeOf(key, place) ?? ''),
    ),
  keep: (output, place) => ({
    ...output,
    exclude: objectList(output.exclude).map(({ key, reason, ...rest }) => ({
      ...rest,
      key,
      reason: `${codeOf(key, place) ?? ''} ${asString(reason) ?? ''}`,
    })),
  }),
  isTaughtBy: hasMarks('E1', 'E2'),
};

const OWNER = 'desk-research';

const ownerField: Convention = {
  id: 'owner-field',
  title: 'planning documents have an owner',
  stages: ['topic-scoping', 'query-planning', 'experiment-plan', 'outline'],
  demand: `Put a field owner with the value ${OWNER} into every planning document.`,
  isKept: ({ owner }) => owner === OWNER,
  keep: (output) => ({ ...output, owner: OWNER }),
  isTaughtBy: hasMarks('owner', OWNER),
};

const SEEDS = [11, 13, 17, 19, 23];

const houseSeeds: Convention = {
  id: 'house-seeds',
  title: 'experiments use the five seeds of the house',
  stages: ['experiment-plan'],
  demand: 'Use the five seeds 11, 13, 17, 19, 23 in every experiment.',
  isKept: ({ seeds }) => asArray(seeds).join() === SEEDS.join(),
  keep: (output) => ({ ...output, seeds: SEEDS }),
  isTaughtBy: hasMarks('11, 13, 17, 19, 23'),
};

const nullHypothesis: Convention = {
  id: 'null-hypothesis',
  title: 'a hypothesis comes with its null hypothesis',
  stages: ['hypothesis'],
  demand: 'State beside every hypothesis its opposite in a field null_hypothesis.',
  isKept: (output) => (asString(output.null_hypothesis) ?? '').trim() !== '',
  keep: (output) => ({ ...output, null_hypothesis: 'The two methods do not differ.' }),
  isTaughtBy: hasMarks('null_hypothesis'),
};

const PREFIX = 'arm-';

const armPrefix: Convention = {
  id: 'arm-prefix',
  title: 'ids of arms have a prefix',
  stages: ['experiment-spec'],
  demand: `Prefix the ids of arms with ${PREFIX}, such as ${PREFIX}control.`,
  isKept: ({ arms }) => objectList(arms).every(({ id }) => asString(id)?.startsWith(PREFIX) ?? false),
  keep: (output) => ({
    ...output,
    arms: objectList(output.arms).map(
      (arm): JsonObject => ({ ...arm, id: `${PREFIX}${asString(arm.id) ?? ''}` }),
    ),
  }),
  isTaughtBy: hasMarks('arm-control'),
};

const GRADES = new Set(['low', 'medium', 'high']);
const isGraded = ({ confidence }: JsonObject): boolean => GRADES.has(asString(confidence) ?? '');
const grade = (one: JsonObject): JsonObject => ({ ...one, confidence: 'medium' });

/** A list of judgements has a grade for each; a single judgement has one for the whole output. */
const judgements = ({ conflicts, gaps }: JsonObject): 'conflicts' | 'gaps' | undefined =>
  conflicts !== undefined ? 'conflicts' : gaps !== undefined ? 'gaps' : undefined;

const confidenceGrade: Convention = {
  id: 'confidence-grade',
  title: 'judgements are graded',
  stages: ['conflict-mapping', 'gap-analysis', 'review-methods', 'review-evidence', 'review-reading'],
  demand: 'Mark every judgement in a field confidence as low, medium or high.',
  isKept: (output) => {
    const list = judgements(output);
    return list === undefined ? isGraded(output) : objectList(output[list]).every(isGraded);
  },
  keep: (output) => {
    const list = judgements(output);
    return list === undefined ? grade(output) : { ...output, [list]: objectList(output[list]).map(grade) };
  },
  isTaughtBy: hasMarks('confidence', 'low, medium or high'),
};

/** A figure in the house format. */
const FIGURE = /^-?\d{1,4}\.\d{2} %$/;
const IN_TEXT = /-?\d{1,4}(?:\.\d{1,6})? ?(?:%|percent\b)/g;
const FIELDS = ['value', 'mean', 'spread', 'difference'] as const;

const written = (value: Json | undefined): Json => `${(asPercent(value) ?? 0).toFixed(2)} %`;

/** The measured values in an output's fields and rows. */
const figuresOf = (output: JsonObject): readonly (Json | undefined)[] =>
  [output, ...objectList(output.rows)].flatMap((one) =>
    FIELDS.flatMap((name) => (one[name] === undefined ? [] : [one[name]])),
  );

const withFigures = (one: JsonObject): JsonObject => ({
  ...one,
  ...Object.fromEntries(
    FIELDS.flatMap((name) => (one[name] === undefined ? [] : [[name, written(one[name])]])),
  ),
});

const twoDecimals: Convention = {
  id: 'two-decimals',
  title: 'figures have two decimals and the sign',
  stages: ['evidence-extraction', 'result-table', 'result-analysis', 'results-section', 'abstract'],
  demand: 'Give every measured value with two decimals and the percent sign, such as 71.40 %.',
  isKept: (output) =>
    figuresOf(output).every((value) => typeof value === 'string' && FIGURE.test(value)) &&
    proseOf(output).every((text) => (text.match(IN_TEXT) ?? []).every((figure) => FIGURE.test(figure))),
  keep: (output) => {
    const texts = mapProse(withFigures(output), (text) =>
      text.replace(IN_TEXT, (figure) => String(written(figure))),
    );
    return output.rows === undefined ? texts : { ...texts, rows: objectList(output.rows).map(withFigures) };
  },
  isTaughtBy: hasMarks('two decimals', '71.40 %'),
};

const limitationLine: Convention = {
  id: 'limitation-line',
  title: 'sections close with a limitation',
  stages: ['result-analysis', 'introduction', 'method-section', 'results-section'],
  demand: 'Close every written section with a sentence that begins with "Limitation:".',
  isKept: (output) =>
    proseOf(output).every((text) => answerSentences(text).at(-1)?.startsWith('Limitation:') ?? false),
  keep: (output) => mapProse(output, (text) => `${text} Limitation: it rests on a single dataset.`),
  isTaughtBy: hasMarks('Limitation:'),
};

const KEYWORDS = /\nKeywords: ?([^\n]{3,200})\s*$/;

const keywordLine: Convention = {
  id: 'keyword-line',
  title: 'the abstract ends with keywords',
  stages: ['abstract'],
  demand:
    'End the abstract with a line of its own that begins with "Keywords:" and names three to five keywords.',
  isKept: (output) =>
    proseOf(output).every((text) => {
      const count = KEYWORDS.exec(text)?.[1]?.split(',').length ?? 0;
      return count >= 3 && count <= 5;
    }),
  keep: (output) => mapProse(output, (text) => `${text}\nKeywords: comparison, baselines, measurement`),
  isTaughtBy: hasMarks('Keywords:'),
};

/** The unstated conventions of this house. Each model stage has at least one; six conventions apply to several stages. */
export const HOUSE_CONVENTIONS: readonly Convention[] = [
  ownerField,
  oldestFirst,
  reasonCodes,
  twoDecimals,
  confidenceGrade,
  citeWithYear,
  nullHypothesis,
  houseSeeds,
  armPrefix,
  limitationLine,
  keywordLine,
];
