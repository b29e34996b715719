import { documentText } from '../../../lab/report/document.ts';
import { documentPage } from '../../../lab/report/page.ts';
import { pipelineDocument } from '../../../lab/report/pipeline/pipeline-document.ts';
import type { PipelineReport } from '../../../lab/report/pipeline/pipeline-report.ts';
import { questionDocument } from '../../../lab/report/questions/question-document.ts';
import type { QuestionReport } from '../../../lab/report/questions/question-report.ts';
import type { TextOptions } from '../../../lab/report/table.ts';

export const PLAIN: TextOptions = { width: 100, colour: false };

export const questionPage = (report: QuestionReport): string => documentPage(questionDocument(report));

export const questionTable = (report: QuestionReport, options: Partial<TextOptions> = {}): string =>
  documentText(questionDocument(report), { ...PLAIN, ...options });

export const pipelinePage = (report: PipelineReport): string => documentPage(pipelineDocument(report));

export const pipelineTable = (report: PipelineReport, options: Partial<TextOptions> = {}): string =>
  documentText(pipelineDocument(report), { ...PLAIN, ...options });
