import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  finishedSeeds,
  makePipelineReport,
  type PipelineJson,
  pipelineJson,
  pipelineMarkdown,
} from '../report/pipeline-report.ts';
import { type QuestionJson, questionJson } from '../report/question-json.ts';
import { questionMarkdown, questionSummary } from '../report/question-markdown.ts';
import { makeQuestionReport } from '../report/question-report.ts';
import { readBenchJournal } from './bench-journal.ts';
import { readPipelineJournal } from './pipeline/pipeline-journal.ts';

interface RunSummary {
  readonly run: string;
  readonly suite: string;
  readonly policy: string;
  readonly startedAt: string;
  /** Progress in the suite's unit. */
  readonly done: number;
  readonly of: number;
  readonly unit: 'questions' | 'seeds';
}

/** A report: for scripts, on one page, and with all details in Markdown. */
export interface RenderedReport {
  readonly json: QuestionJson | PipelineJson;
  readonly summary: string;
  readonly markdown: string;
}

/** The runs in a folder, newest first. */
export function listRuns(folder: string): readonly RunSummary[] {
  return namesIn(folder)
    .flatMap((run) => {
      const text = textOf(folder, run);
      return text === undefined ? [] : (summariseRun(run, text) ?? []);
    })
    .sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
}

/** A name that no run in the folder has. */
export function nextRun(folder: string, prefix: string): string {
  const taken = new Set(listRuns(folder).map(({ run }) => run));
  for (let number = 1; ; number++) if (!taken.has(`${prefix}-${number}`)) return `${prefix}-${number}`;
}

function summariseRun(run: string, text: string): RunSummary | undefined {
  const pipeline = readPipelineJournal(text);
  if (pipeline !== undefined) {
    const { suite, policy, startedAt, seeds } = pipeline.head;
    const progress = { done: finishedSeeds(pipeline), of: seeds.length, unit: 'seeds' } as const;
    return { run, suite, policy, startedAt, ...progress };
  }
  const journal = readBenchJournal(text);
  if (journal === undefined) return undefined;
  const { suite, policy, startedAt, questions, conditions, seeds } = journal.head;
  const of = questions * conditions.length * seeds.length;
  return { run, suite, policy, startedAt, done: journal.rows.length, of, unit: 'questions' };
}

/** Undefined when there is no such run. */
export function renderRun(folder: string, run: string): RenderedReport | undefined {
  const text = textOf(folder, run);
  if (text === undefined) return undefined;
  const pipeline = readPipelineJournal(text);
  if (pipeline !== undefined) {
    const report = makePipelineReport(pipeline);
    const markdown = pipelineMarkdown(report);
    return { json: pipelineJson(report), summary: markdown, markdown };
  }
  const journal = readBenchJournal(text);
  if (journal === undefined) return undefined;
  const report = makeQuestionReport(journal);
  return {
    json: questionJson(report),
    summary: questionSummary(report),
    markdown: questionMarkdown(report),
  };
}

/** A run's journal; undefined when there is none. */
const textOf = (folder: string, run: string): string | undefined =>
  unlessMissing(() => readFileSync(path.join(folder, run, 'journal.jsonl'), 'utf8'));

const namesIn = (folder: string): readonly string[] =>
  unlessMissing(() =>
    readdirSync(folder).filter((name) => statSync(path.join(folder, name)).isDirectory()),
  ) ?? [];

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
