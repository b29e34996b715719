import { asArray, asObject, asString, type JsonObject } from '../../../../src/core/json.ts';
import {
  answerSentences,
  asPercent,
  citationKeysIn,
  countWords,
  isNear,
  mentions,
  percentagesIn,
  textList,
} from '../answer-text.ts';
import type { ModelStage } from '../stage.ts';
import { type Checks, createChecks } from '../stage.ts';
import { evidenceRows, evidenceRowsIn } from './literature.ts';
import { differenceOf, meansIn, meansOf } from './results.ts';

const LENGTH = { from: 30, to: 180 } as const;
const LENGTH_SAID = `${LENGTH.from} to ${LENGTH.to} words`;

function needLength({ need }: Checks, text: string): void {
  const words = countWords(text);
  need(words >= LENGTH.from && words <= LENGTH.to, `Write ${LENGTH_SAID}.`, `${words} words`);
}

/** A sentence with a figure needs a citation, and only works of the evidence may be cited. */
function needSources({ need }: Checks, text: string, known: ReadonlySet<string>): void {
  const unknown = citationKeysIn(text).filter((key) => !known.has(key));
  need(unknown.length === 0, 'Cite only keys of works that are in the evidence.', unknown.join(', '));
  const bare = answerSentences(text).filter(
    (one) => percentagesIn(one).length > 0 && citationKeysIn(one).length === 0,
  );
  need(bare.length === 0, 'Make no claim with a figure without a citation in the same sentence.', bare[0]);
}

const keysOf = (material: JsonObject): ReadonlySet<string> =>
  new Set(evidenceRowsIn(material.rows).map(({ key }) => key));

export const introduction: ModelStage = {
  id: 'introduction',
  kind: 'model',
  needs: ['outline', 'evidence-extraction'],
  task: 'Write the section Introduction: what the field needs, what earlier works reached, and the question of this paper, with citations.',
  form: [
    `text: ${LENGTH_SAID} that name the field and cite at least two works; every figure has its citation in the same sentence`,
  ],
  material: (dossier, { topic }) => ({
    field: topic.field.name,
    question: dossier.get('topic-scoping')?.question ?? '',
    rows: evidenceRows(dossier),
  }),
  solve: (material, { topic }) => {
    const [one, two] = evidenceRowsIn(material.rows);
    return {
      text: [
        `Progress in ${topic.field.name} is reported often and compared seldom.`,
        `On the ${one?.dataset} a value of ${one?.value} percent is known for ${one?.method} (${one?.key}).`,
        `For ${two?.method} the literature has ${two?.value} percent on the ${two?.dataset} (${two?.key}).`,
        'Which of the two ideas of this paper carries further is an open question that we answer here.',
      ].join(' '),
    };
  },
  check: (output, material) => {
    const checks = createChecks();
    const text = asString(output.text) ?? '';
    needLength(checks, text);
    needSources(checks, text, keysOf(material));
    checks.need(new Set(citationKeysIn(text)).size >= 2, 'Cite at least two works in the introduction.');
    checks.need(mentions(text, String(material.field)), 'Name the field in the introduction.');
    return checks.problems;
  },
};

export const relatedWork: ModelStage = {
  id: 'related-work',
  kind: 'model',
  needs: ['outline', 'evidence-extraction'],
  task: 'Write the section Related work: list the works of the evidence one after the other, with a citation and the value that each reports.',
  form: [
    'paragraphs: a list of texts, one for each work, of at least 8 words, with its citation and its value in percent',
  ],
  material: (dossier) => ({ rows: evidenceRows(dossier) }),
  solve: (material) => ({
    paragraphs: evidenceRowsIn(material.rows).map(
      ({ key, method, dataset, value }) =>
        `A study of ${method} on the ${dataset} arrives at ${value} percent (${key}).`,
    ),
  }),
  check: (output, material) => {
    const checks = createChecks();
    const rows = new Map(evidenceRowsIn(material.rows).map((row) => [row.key, row]));
    const paragraphs = textList(output.paragraphs) ?? [];
    const cited = paragraphs.map((text) => [...new Set(citationKeysIn(text))]);
    checks.need(
      cited.flat().sort().join() === [...rows.keys()].sort().join() &&
        cited.every((keys) => keys.length === 1),
      'Give each work of the evidence one paragraph with its citation, and cite no other.',
      cited.flat().join(', '),
    );
    const wrong = paragraphs.filter((text, nth) => {
      const value = rows.get(cited[nth]?.[0] ?? '')?.value;
      return value !== undefined && !percentagesIn(text).some((one) => isNear(one, value, 0.001));
    });
    checks.need(wrong.length === 0, 'Report of each work the value that the evidence has.', wrong[0]);
    checks.need(
      paragraphs.every((text) => countWords(text) >= 8),
      'Write at least 8 words on each work.',
    );
    return checks.problems;
  },
};

export const methodSection: ModelStage = {
  id: 'method-section',
  kind: 'model',
  needs: ['outline', 'experiment-spec'],
  task: 'Write the section Method: what was compared, on which dataset, by which metric and over how many seeds, so that others can repeat it.',
  form: [
    `text: ${LENGTH_SAID} that name every method of the arms, the dataset, the metric and the number of seeds in digits`,
  ],
  material: (dossier) => {
    const { dataset = '', metric = '', seeds = [], arms = [] } = dossier.get('experiment-spec') ?? {};
    return { dataset, metric, seeds, methods: asArray(arms).map((arm) => asObject(arm).method ?? '') };
  },
  solve: ({ methods, dataset, metric, seeds }) => ({
    text: [
      `We compare ${(textList(methods) ?? []).join(', ')} under equal conditions.`,
      `The data are the ${String(dataset)}, the ${String(metric)} is counted, and there are ${asArray(seeds).length} seeds.`,
      'Whoever has our file of settings can do all of it again on a laptop in the course of a day.',
    ].join(' '),
  }),
  check: (output, { methods, dataset, metric, seeds }) => {
    const checks = createChecks();
    const text = asString(output.text) ?? '';
    needLength(checks, text);
    const missing = [...(textList(methods) ?? []), String(dataset), String(metric)].filter(
      (name) => !mentions(text, name),
    );
    checks.need(
      missing.length === 0,
      'Name every method, the dataset and the metric in the method section.',
      missing.join(', '),
    );
    const digits: readonly string[] = text.match(/\b\d+\b/g) ?? [];
    checks.need(digits.includes(String(asArray(seeds).length)), 'Say in digits over how many seeds it ran.');
    return checks.problems;
  },
};

export const resultsSection: ModelStage = {
  id: 'results-section',
  kind: 'model',
  needs: ['outline', 'result-analysis'],
  task: 'Write the section Results: the measured value of every arm and what follows from them for the hypothesis.',
  form: [`text: ${LENGTH_SAID} with the mean of every arm in percent, to two places, and the verdict`],
  material: (dossier) => ({
    means: meansOf(dossier),
    verdict: dossier.get('result-analysis')?.verdict ?? '',
  }),
  solve: (material) => ({
    text: [
      ...meansIn(material.means).map(({ method, mean }) => `On average ${method} comes to ${mean} percent.`),
      `Taken together, and with the threshold as it was set before the runs, the hypothesis is ${String(material.verdict)}.`,
    ].join(' '),
  }),
  check: (output, material) => {
    const checks = createChecks();
    const text = asString(output.text) ?? '';
    needLength(checks, text);
    const told = percentagesIn(text);
    const missing = meansIn(material.means).filter(({ mean }) => !told.some((value) => isNear(value, mean)));
    checks.need(
      missing.length === 0,
      'Give the mean of every arm as the table has it.',
      missing.map(({ arm }) => arm).join(', '),
    );
    checks.need(
      mentions(text, String(material.verdict)),
      'Say in the results what became of the hypothesis.',
    );
    return checks.problems;
  },
};

export const abstract: ModelStage = {
  id: 'abstract',
  kind: 'model',
  needs: ['introduction', 'results-section'],
  task: 'Write the abstract of the paper: the two methods, the metric, the measured difference and the verdict.',
  form: [
    `text: ${LENGTH_SAID} that name both methods, the metric, the difference in percent and the verdict`,
  ],
  material: (dossier, { topic }) => ({
    methods: [topic.focus, topic.rival],
    metric: topic.field.metric,
    difference: asPercent(dossier.get('result-analysis')?.difference) ?? differenceOf(meansOf(dossier)),
    verdict: dossier.get('result-analysis')?.verdict ?? '',
  }),
  solve: ({ methods, metric, difference, verdict }) => ({
    text: [
      `We ask whether ${(textList(methods) ?? []).join(' is better than ')} when the ${String(metric)} counts.`,
      `In a comparison with equal conditions the difference to the best baseline is ${String(difference)} percent.`,
      `The hypothesis that we had put down before is ${String(verdict)}, and we publish all settings.`,
    ].join(' '),
  }),
  check: (output, { methods, metric, difference, verdict }) => {
    const checks = createChecks();
    const text = asString(output.text) ?? '';
    needLength(checks, text);
    const missing = [...(textList(methods) ?? []), String(metric), String(verdict)].filter(
      (name) => !mentions(text, name),
    );
    checks.need(
      missing.length === 0,
      'Name both methods, the metric and the verdict in the abstract.',
      missing.join(', '),
    );
    const gap = asPercent(difference) ?? Number.NaN;
    checks.need(
      percentagesIn(text).some((value) => isNear(value, gap)),
      'Give the difference in the abstract as the analysis has it.',
    );
    return checks.problems;
  },
};
