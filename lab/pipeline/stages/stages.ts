import { asArray, asNumber, asObject, asString } from '../../../src/core/json.ts';
import { citationKeysIn, countWords, textList } from '../answer-text.ts';
import {
  type CodeStage,
  createChecks,
  type ModelStage,
  type PipelineStage,
  type StageOutputs,
} from '../stage.ts';
import { experimentPlan, experimentSpec, runExperiment } from './experiment.ts';
import { corpusSearch, dedup, evidenceExtraction, screening, worksWithKeys } from './literature.ts';
import { conflictMapping, gapAnalysis, hypothesis } from './reasoning.ts';
import { resultAnalysis, resultTable } from './results.ts';
import { outline, queryPlanning, topicScoping } from './scoping.ts';
import { abstract, introduction, methodSection, relatedWork, resultsSection } from './writing.ts';

const SECTIONS = ['abstract', 'introduction', 'related-work', 'method-section', 'results-section'] as const;

const textOf = (dossier: StageOutputs, section: string): string => {
  const { text, paragraphs } = dossier.get(section) ?? {};
  return asString(text) ?? (textList(paragraphs) ?? []).join('\n');
};

const compileBibliography: CodeStage = {
  id: 'compile-bibliography',
  kind: 'code',
  isScorable: false,
  needs: ['introduction', 'related-work'],
  perform: (dossier, corpus) => {
    const cited = new Set(SECTIONS.flatMap((section) => citationKeysIn(textOf(dossier, section))));
    const entries = worksWithKeys([...cited].sort(), corpus).map(({ key, year, title }) => ({
      key,
      year,
      title,
    }));
    return { entries };
  },
};

/** Not named `package`, which is a reserved word. */
const packagePaper: CodeStage = {
  id: 'package',
  kind: 'code',
  isScorable: false,
  needs: [...SECTIONS, 'compile-bibliography'],
  perform: (dossier) => ({
    sections: SECTIONS.map((name) => ({
      name,
      text: textOf(dossier, name),
      words: countWords(textOf(dossier, name)),
    })),
    references: asArray(dossier.get('compile-bibliography')?.entries).length,
  }),
};

const SCORES = ['soundness', 'clarity', 'novelty'] as const;
const RECOMMENDATIONS = ['accept', 'revise', 'reject'];

const peerReview: ModelStage = {
  id: 'peer-review',
  kind: 'model',
  needs: ['package'],
  task: 'Review the paper as a referee would, fill in the whole form and pass judgement. Accept only what has at least 4 in every score.',
  form: [
    'summary: 10 to 80 words; strengths, weaknesses, questions: at least two texts each',
    `scores: { ${SCORES.join(', ')} }, whole numbers from 1 to 5`,
    `recommendation: one of ${RECOMMENDATIONS.join(', ')}`,
  ],
  material: (dossier) => {
    const { sections = [], references = 0 } = dossier.get('package') ?? {};
    return { sections, references };
  },
  solve: () => ({
    summary: 'The paper compares two methods under equal conditions and reports what it finds.',
    strengths: ['one comparison, done with care', 'the threshold was set before the runs'],
    weaknesses: ['a single dataset', 'few baselines'],
    questions: ['How do the results change with more seeds?', 'What does the method cost at run time?'],
    scores: { soundness: 4, clarity: 4, novelty: 3 },
    recommendation: 'revise',
  }),
  check: (output) => {
    const { need, problems } = createChecks();
    const words = countWords(asString(output.summary) ?? '');
    const scores = SCORES.map((name) => asNumber(asObject(output.scores)[name]) ?? 0);
    const lists = [output.strengths, output.weaknesses, output.questions].map((list) => textList(list) ?? []);
    need(words >= 10 && words <= 80, 'Summarise the paper in 10 to 80 words.', `${words} words`);
    need(
      lists.every((list) => list.length >= 2),
      'Name at least two strengths, two weaknesses and two questions.',
    );
    need(
      scores.every((score) => Number.isSafeInteger(score) && score >= 1 && score <= 5),
      'Give soundness, clarity and novelty a whole number from 1 to 5.',
      scores.join(', '),
    );
    need(
      RECOMMENDATIONS.includes(asString(output.recommendation) ?? ''),
      'Recommend to accept, revise or reject.',
      String(output.recommendation),
    );
    need(
      output.recommendation !== 'accept' || scores.every((score) => score >= 4),
      'Accept only a paper that has at least 4 in every score.',
    );
    return problems;
  },
};

/** From an idea to its review: 23 stages in the order in which they run; a model does 18 of them, 19 are scorable. */
export const STAGES: readonly PipelineStage[] = [
  topicScoping,
  queryPlanning,
  corpusSearch,
  dedup,
  screening,
  evidenceExtraction,
  conflictMapping,
  gapAnalysis,
  hypothesis,
  experimentPlan,
  experimentSpec,
  runExperiment,
  resultTable,
  resultAnalysis,
  outline,
  introduction,
  relatedWork,
  methodSection,
  resultsSection,
  abstract,
  compileBibliography,
  packagePaper,
  peerReview,
];
