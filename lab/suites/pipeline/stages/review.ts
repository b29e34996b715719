import {
  asArray,
  asNumber,
  asObject,
  asString,
  type Json,
  type JsonObject,
} from '../../../../src/core/json.ts';
import {
  asPercent,
  citationKeysIn,
  countWords,
  isNear,
  roundToHundredths,
  textList,
} from '../answer-text.ts';
import { type Checks, createChecks, type ModelStage, type PanelStage, type StageOutputs } from '../stage.ts';
import { evidenceRows } from './literature.ts';

const RECOMMENDATIONS = ['reject', 'revise', 'accept'];

/** A reviewer's rubric: what it scores, and a finding that can be checked against the paper. */
interface Rubric {
  readonly id: string;
  readonly task: string;
  readonly scores: readonly string[];
  /** The field of the finding, and what stands in it. */
  readonly finding: readonly [name: string, about: string];
  material(dossier: StageOutputs): JsonObject;
  /** The right finding, and the scores that a fair reviewer gives. */
  judge(material: JsonObject): { readonly finding: Json; readonly scores: readonly number[] };
  needFinding(checks: Checks, said: Json | undefined, right: Json): void;
}

const sectionsOf = (dossier: StageOutputs): readonly JsonObject[] =>
  asArray(dossier.get('package')?.sections).map((one) => asObject(one));
const textIn = (sections: Json | undefined, name: string): string =>
  asString(
    asArray(sections)
      .map((one) => asObject(one))
      .find((one) => one.name === name)?.text,
  ) ?? '';

const methods: Rubric = {
  id: 'review-methods',
  task: 'Review the methods of the paper: is the comparison sound, can it be repeated, do the numbers bear the conclusion? Recompute the mean of the treatment from the raw values of the runs.',
  scores: ['soundness', 'repeatability', 'statistics'],
  finding: ['recomputed_mean', 'the mean of the raw values of the treatment, in percent, to two places'],
  material: (dossier) => ({
    runs: dossier.get('run-experiment')?.runs ?? [],
    sections: sectionsOf(dossier).filter(
      ({ name }) => name === 'method-section' || name === 'results-section',
    ),
  }),
  judge: ({ runs, sections }) => {
    const arms = asArray(runs).map((run) => asObject(run));
    const values = asArray(arms.find(({ role }) => role === 'treatment')?.values).map(
      (one) => asNumber(one) ?? 0,
    );
    const mean = roundToHundredths(
      values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length),
    );
    const isStated = textIn(sections, 'results-section').includes(String(mean));
    return {
      finding: mean,
      scores: [isStated ? 4 : 3, values.length >= 5 ? 5 : 3, arms.length >= 3 ? 4 : 2],
    };
  },
  needFinding: ({ need }, said, right) =>
    need(
      isNear(asPercent(said), Number(right)),
      'Recompute the mean of the treatment from the raw values of the runs.',
      String(said),
    ),
};

const evidence: Rubric = {
  id: 'review-evidence',
  task: 'Review how the paper deals with earlier work: is it covered, quoted rightly, and is there something new? Name the works of the evidence that no section cites.',
  scores: ['coverage', 'accuracy', 'novelty'],
  finding: ['uncited', 'the list of keys of works in the evidence that no section cites; may be empty'],
  material: (dossier) => ({
    evidence: evidenceRows(dossier).map(({ key }) => key),
    sections: sectionsOf(dossier).filter(({ name }) => name === 'introduction' || name === 'related-work'),
  }),
  judge: ({ evidence: keys, sections }) => {
    const cited = new Set(
      asArray(sections).flatMap((section) => citationKeysIn(asString(asObject(section).text) ?? '')),
    );
    const uncited = (textList(keys) ?? []).filter((key) => !cited.has(key));
    return { finding: uncited, scores: [uncited.length === 0 ? 5 : 3, 4, 3] };
  },
  needFinding: ({ need }, said, right) =>
    need(
      [...(textList(said) ?? ['?'])].sort().join() === [...(textList(right) ?? [])].sort().join(),
      'List exactly the works of the evidence that no section cites.',
      asArray(said).join(', '),
    ),
};

const reading: Rubric = {
  id: 'review-reading',
  task: 'Review the paper as its reader: is it clear, well ordered and open about its limits? Name the section with the most words.',
  scores: ['clarity', 'order', 'candour'],
  finding: ['longest_section', 'the name of the section with the most words'],
  material: (dossier) => ({ sections: sectionsOf(dossier) }),
  judge: ({ sections }) => {
    const all = asArray(sections).map((one) => asObject(one));
    const longest = all.reduce(
      (best, one) => ((asNumber(one.words) ?? 0) > (asNumber(best.words) ?? 0) ? one : best),
      all[0] ?? {},
    );
    const words = all.reduce((sum, one) => sum + (asNumber(one.words) ?? 0), 0);
    const open = all.filter(({ text }) => (asString(text) ?? '').includes('Limitation')).length;
    return {
      finding: asString(longest.name) ?? '',
      scores: [words <= 500 ? 4 : 3, 4, open >= 3 ? 5 : open >= 1 ? 3 : 2],
    };
  },
  needFinding: ({ need }, said, right) =>
    need(said === right, 'Name the section with the most words.', String(said)),
};

const reviewer = ({ id, task, scores, finding, material, judge, needFinding }: Rubric): ModelStage => ({
  id,
  kind: 'model',
  needs: ['package'],
  task: `${task} Fill in the whole form and pass judgement. Accept only what has at least 4 in every score.`,
  form: [
    'summary: 10 to 80 words; strengths, weaknesses, questions: at least two texts each',
    `scores: { ${scores.join(', ')} }, whole numbers from 1 to 5`,
    `${finding[0]}: ${finding[1]}`,
    'recommendation: one of accept, revise, reject',
  ],
  material,
  solve: (given) => {
    const judged = judge(given);
    const isGood = judged.scores.every((score) => score >= 4);
    return {
      summary: 'The paper compares methods under equal conditions and reports what its program measured.',
      strengths: ['one comparison, done with care', 'the threshold was set before the runs'],
      weaknesses: ['a single dataset', 'few baselines'],
      questions: ['How do the results change with more seeds?', 'What does the method cost at run time?'],
      scores: Object.fromEntries(scores.map((name, nth) => [name, judged.scores[nth] ?? 3])),
      [finding[0]]: judged.finding,
      recommendation: isGood ? 'accept' : 'revise',
    };
  },
  check: (output, given) => {
    const checks = createChecks();
    const { need } = checks;
    const words = countWords(asString(output.summary) ?? '');
    const given5 = scores.map((name) => asNumber(asObject(output.scores)[name]) ?? 0);
    const lists = [output.strengths, output.weaknesses, output.questions].map((list) => textList(list) ?? []);
    need(words >= 10 && words <= 80, 'Summarise the paper in 10 to 80 words.', `${words} words`);
    need(
      lists.every((list) => list.length >= 2),
      'Name at least two strengths, two weaknesses and two questions.',
    );
    need(
      given5.every((score) => Number.isSafeInteger(score) && score >= 1 && score <= 5),
      `Give ${scores.join(', ')} a whole number from 1 to 5.`,
      given5.join(', '),
    );
    need(
      RECOMMENDATIONS.includes(asString(output.recommendation) ?? ''),
      'Recommend to accept, revise or reject.',
      String(output.recommendation),
    );
    need(
      output.recommendation !== 'accept' || given5.every((score) => score >= 4),
      'Accept only a paper that has at least 4 in every score.',
    );
    needFinding(checks, output[finding[0]], judge(given).finding);
    return checks.problems;
  },
});

const RUBRICS: readonly Rubric[] = [methods, evidence, reading];

/** What one reviewer made of the paper. */
export interface Review {
  readonly reviewer: string;
  /** The mean of its scores, 1 to 5. */
  readonly score: number;
  readonly recommendation: string;
}

/** The reviews in the output of the stage; none when it did not complete. */
export const reviewsIn = (output: JsonObject | undefined): readonly Review[] =>
  asArray(output?.reviews).map((one) => {
    const { reviewer: id, score, recommendation } = asObject(one);
    return {
      reviewer: asString(id) ?? '',
      score: asNumber(score) ?? 0,
      recommendation: asString(recommendation) ?? '',
    };
  });

/** Three reviewers with different rubrics, none of whom sees what another wrote. */
export const peerReview: PanelStage = {
  id: 'peer-review',
  kind: 'panel',
  needs: ['package', 'run-experiment', 'evidence-extraction'],
  members: RUBRICS.map(reviewer),
  combine: (answers) => {
    const reviews = answers.map((answer, nth): JsonObject => {
      const scores = Object.values(asObject(answer.scores)).map((score) => asNumber(score) ?? 0);
      return {
        reviewer: RUBRICS[nth]?.id ?? '',
        scores: asObject(answer.scores),
        score: roundToHundredths(scores.reduce((sum, one) => sum + one, 0) / Math.max(1, scores.length)),
        recommendation: asString(answer.recommendation) ?? '',
      };
    });
    const means = reviews.map(({ score }) => asNumber(score) ?? 0);
    const ranks = reviews
      .map(({ recommendation }) => RECOMMENDATIONS.indexOf(asString(recommendation) ?? ''))
      .sort((a, b) => a - b);
    return {
      reviews,
      // The points between the most and the least favourable reviewer.
      disagreement: roundToHundredths(Math.max(...means) - Math.min(...means)),
      decision: RECOMMENDATIONS[ranks[Math.floor(ranks.length / 2)] ?? 0] ?? '',
    };
  },
};
