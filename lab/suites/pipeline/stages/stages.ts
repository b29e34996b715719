import { asArray, asString } from '../../../../src/core/json.ts';
import { citationKeysIn, countWords, textList } from '../answer-text.ts';
import type { CodeStage, PipelineStage, StageOutputs } from '../stage.ts';
import { experimentPlan, experimentSpec, runExperiment } from './experiment.ts';
import { corpusSearch, dedup, evidenceExtraction, screening, worksWithKeys } from './literature.ts';
import { conflictMapping, gapAnalysis, hypothesis } from './reasoning.ts';
import { resultAnalysis, resultTable } from './results.ts';
import { peerReview } from './review.ts';
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
  perform: async (dossier, corpus) => {
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
  perform: async (dossier) => ({
    sections: SECTIONS.map((name) => ({
      name,
      text: textOf(dossier, name),
      words: countWords(textOf(dossier, name)),
    })),
    references: asArray(dossier.get('compile-bibliography')?.entries).length,
  }),
};

/** From an idea to its review: 23 stages in the order in which they run; models do 18 of them (the review by three), 19 are scorable. */
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
