import {
  asArray,
  asNumber,
  asObject,
  asString,
  type Json,
  type JsonObject,
} from '../../../../src/core/json.ts';
import { asPercent, countWords, isNear, mentions, percentagesIn, roundToHundredths } from '../answer-text.ts';
import { createChecks, type ModelStage, type StageOutputs } from '../stage.ts';

interface ArmRun {
  readonly arm: string;
  readonly method: string;
  readonly role: string;
  readonly values: readonly number[];
}

const runsIn = (runs: Json | undefined): readonly ArmRun[] =>
  asArray(runs).map((run) => {
    const { arm, method, role, values } = asObject(run);
    return {
      arm: asString(arm) ?? '',
      method: asString(method) ?? '',
      role: asString(role) ?? '',
      values: asArray(values).flatMap((value) => asNumber(value) ?? []),
    };
  });

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const spreadOf = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

export const resultTable: ModelStage = {
  id: 'result-table',
  kind: 'model',
  needs: ['run-experiment'],
  task: 'Make the table of results from what the runner wrote: for each arm how often it ran, the mean of its measured values and their spread.',
  form: [
    'caption: at least four words, with the metric',
    'rows: a list of { arm, n, mean, spread }; spread: the largest value less the smallest; means and spreads in percent, to two places',
  ],
  material: (dossier) => {
    const { metric = '', runs = [] } = dossier.get('run-experiment') ?? {};
    return { metric, runs };
  },
  solve: (material) => ({
    caption: `Mean ${String(material.metric)} of each arm over all seeds`,
    rows: runsIn(material.runs).map(({ arm, values }) => ({
      arm,
      n: values.length,
      mean: roundToHundredths(meanOf(values)),
      spread: roundToHundredths(spreadOf(values)),
    })),
  }),
  check: (output, material) => {
    const { need, problems } = createChecks();
    const truth = new Map(runsIn(material.runs).map((run) => [run.arm, run]));
    const rows = asArray(output.rows).map((row) => asObject(row));
    const caption = asString(output.caption) ?? '';
    const wrong = (isRight: (row: JsonObject, values: readonly number[]) => boolean): string =>
      rows
        .filter((row) => {
          const run = truth.get(asString(row.arm) ?? '');
          return run !== undefined && !isRight(row, run.values);
        })
        .map(({ arm }) => String(arm))
        .join(', ');
    need(
      rows
        .map(({ arm }) => String(arm))
        .sort()
        .join() === [...truth.keys()].sort().join(),
      'Write one row for each arm that ran, by its id.',
    );
    const counts = wrong((row, values) => asNumber(row.n) === values.length);
    need(counts === '', 'Count the runs of each arm.', counts);
    const means = wrong((row, values) => isNear(asPercent(row.mean), meanOf(values)));
    need(means === '', 'Compute each mean from the values that the runner wrote.', means);
    const spreads = wrong((row, values) => isNear(asPercent(row.spread), spreadOf(values)));
    need(spreads === '', 'Compute each spread as the largest value less the smallest.', spreads);
    need(
      countWords(caption) >= 4 && mentions(caption, String(material.metric)),
      'Write a caption of at least four words that names the metric.',
      caption,
    );
    return problems;
  },
};

/** An arm with its mean from the table. */
type ArmMean = {
  readonly arm: string;
  readonly method: string;
  readonly role: string;
  readonly mean: number;
};

/** Reads means in any format: each stage may write figures differently. */
export const meansOf = (dossier: StageOutputs): readonly ArmMean[] => {
  const runs = new Map(runsIn(dossier.get('run-experiment')?.runs).map((run) => [run.arm, run]));
  return asArray(dossier.get('result-table')?.rows).map((row) => {
    const { arm, mean } = asObject(row);
    const run = runs.get(asString(arm) ?? '');
    return {
      arm: asString(arm) ?? '',
      method: run?.method ?? '',
      role: run?.role ?? '',
      mean: asPercent(mean) ?? Number.NaN,
    };
  });
};

export const meansIn = (means: Json | undefined): readonly ArmMean[] =>
  asArray(means).map((one) => {
    const { arm, method, role, mean } = asObject(one);
    return {
      arm: asString(arm) ?? '',
      method: asString(method) ?? '',
      role: asString(role) ?? '',
      mean: asNumber(mean) ?? Number.NaN,
    };
  });

/** The treatment's mean minus that of the best baseline. */
export function differenceOf(means: readonly ArmMean[]): number {
  const treatment = means.find(({ role }) => role === 'treatment')?.mean ?? Number.NaN;
  const best = Math.max(...means.filter(({ role }) => role === 'baseline').map(({ mean }) => mean));
  return roundToHundredths(treatment - best);
}

const verdictOf = (difference: number, threshold: number): 'supported' | 'refuted' =>
  difference >= threshold ? 'supported' : 'refuted';

export const resultAnalysis: ModelStage = {
  id: 'result-analysis',
  kind: 'model',
  needs: ['result-table', 'hypothesis'],
  task: 'Analyse the results in a short written section: the measured difference between the treatment and the best baseline, and whether it supports the hypothesis. It does when the difference reaches the threshold.',
  form: [
    'difference: the mean of the treatment less that of the best baseline, in percent, to two places',
    'verdict: supported or refuted',
    'text: 15 to 100 words with the difference and the verdict in them',
  ],
  material: (dossier) => ({
    means: meansOf(dossier),
    threshold: dossier.get('hypothesis')?.threshold ?? 0,
  }),
  solve: (material) => {
    const difference = differenceOf(meansIn(material.means));
    const verdict = verdictOf(difference, asNumber(material.threshold) ?? 0);
    return {
      difference,
      verdict,
      text: `The treatment differs from the best baseline by ${difference} percent over all seeds. Against the threshold that was set before the runs, the hypothesis is ${verdict}.`,
    };
  },
  check: (output, material) => {
    const { need, problems } = createChecks();
    const difference = differenceOf(meansIn(material.means));
    const verdict = verdictOf(difference, asNumber(material.threshold) ?? 0);
    const text = asString(output.text) ?? '';
    const words = countWords(text);
    need(
      isNear(asPercent(output.difference), difference, 0.021),
      'Compute the difference from the mean of the treatment and that of the best baseline.',
      String(output.difference),
    );
    need(output.verdict === verdict, 'Let the threshold decide on the verdict.', String(output.verdict));
    need(words >= 15 && words <= 100, 'Write 15 to 100 words of analysis.', `${words} words`);
    need(
      mentions(text, verdict) && percentagesIn(text).some((value) => isNear(value, difference, 0.021)),
      'Put difference and verdict into the analysis.',
    );
    return problems;
  },
};
