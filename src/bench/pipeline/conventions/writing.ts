import type { Json, JsonObject } from '../../../core/json.ts';
import { type Convention, hasMarks, mapProse, objectsIn, proseOf } from '../convention.ts';
import { asPercent, sentencesOf } from '../prose.ts';

/** A figure in the house format. */
const FIGURE = /^-?\d{1,4}\.\d{2} %$/;
const IN_TEXT = /-?\d{1,4}(?:\.\d{1,6})? ?(?:%|percent\b)/g;
const FIELDS = ['value', 'mean', 'spread', 'difference'] as const;

const written = (value: Json | undefined): Json => `${(asPercent(value) ?? 0).toFixed(2)} %`;

/** The measured values in an output's fields and rows. */
const figuresOf = (output: JsonObject): readonly (Json | undefined)[] =>
  [output, ...objectsIn(output.rows)].flatMap((one) =>
    FIELDS.flatMap((name) => (one[name] === undefined ? [] : [one[name]])),
  );

const withFigures = (one: JsonObject): JsonObject => ({
  ...one,
  ...Object.fromEntries(
    FIELDS.flatMap((name) => (one[name] === undefined ? [] : [[name, written(one[name])]])),
  ),
});

export const twoDecimals: Convention = {
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
    return output.rows === undefined ? texts : { ...texts, rows: objectsIn(output.rows).map(withFigures) };
  },
  isTaughtBy: hasMarks('two decimals', '71.40 %'),
};

export const limitationLine: Convention = {
  id: 'limitation-line',
  title: 'sections close with a limitation',
  stages: ['result-analysis', 'introduction', 'method-section', 'results-section'],
  demand: 'Close every written section with a sentence that begins with "Limitation:".',
  isKept: (output) =>
    proseOf(output).every((text) => sentencesOf(text).at(-1)?.startsWith('Limitation:') ?? false),
  keep: (output) => mapProse(output, (text) => `${text} Limitation: it rests on a single dataset.`),
  isTaughtBy: hasMarks('Limitation:'),
};

const KEYWORDS = /\nKeywords: ?([^\n]{3,200})\s*$/;

export const keywordLine: Convention = {
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
