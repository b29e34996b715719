import { documentText } from '../../../src/bench/report/document.ts';
import { documentPage } from '../../../src/bench/report/page.ts';
import { pipelineDocument } from '../../../src/bench/report/pipeline/pipeline-document.ts';
import type { PipelineReport } from '../../../src/bench/report/pipeline/pipeline-report.ts';
import { questionDocument } from '../../../src/bench/report/questions/question-document.ts';
import type { QuestionReport } from '../../../src/bench/report/questions/question-report.ts';
import type { TextOptions } from '../../../src/bench/report/table.ts';

export const PLAIN: TextOptions = { width: 100, colour: false };

export const questionPage = (report: QuestionReport): string => documentPage(questionDocument(report));

export const questionTable = (report: QuestionReport, options: Partial<TextOptions> = {}): string =>
  documentText(questionDocument(report), { ...PLAIN, ...options });

export const pipelinePage = (report: PipelineReport): string => documentPage(pipelineDocument(report));

export const pipelineTable = (report: PipelineReport, options: Partial<TextOptions> = {}): string =>
  documentText(pipelineDocument(report), { ...PLAIN, ...options });
