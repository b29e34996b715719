import type { Stage } from '../stage.ts';
import { compileBibliography, packagePaper, peerReview } from './closing.ts';
import { experimentPlan, experimentSpec, runExperiment } from './experiment.ts';
import { corpusSearch, dedup, evidenceExtraction, screening } from './literature.ts';
import { conflictMapping, gapAnalysis, hypothesis } from './reasoning.ts';
import { resultAnalysis, resultTable } from './results.ts';
import { outline, queryPlanning, topicScoping } from './scoping.ts';
import { abstract, introduction, methodSection, relatedWork, resultsSection } from './writing.ts';

/** From an idea to its review: 23 stages in the order in which they run; a model does 18 of them, 19 are scorable. */
export const STAGES: readonly Stage[] = [
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
