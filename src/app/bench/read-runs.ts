import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeReport, type Report } from '../../bench/report/report.ts';
import { toHtml } from '../../bench/report/to-html.ts';
import { type ReportJson, toJson } from '../../bench/report/to-json.ts';
import { toTable } from '../../bench/report/to-table.ts';
import { loadJournal } from '../../bench/run/journal.ts';

export interface RunSummary {
  readonly run: string;
  readonly suite: string;
  readonly policy: string;
  readonly startedAt: string;
  readonly asked: number;
  readonly questions: number;
}

/** A report in its three forms. */
export interface Rendered {
  readonly json: ReportJson;
  readonly table: (options: { readonly colour: boolean }) => string;
  readonly html: string;
}

/** The runs of a folder, newest first. */
export function listRuns(folder: string): readonly RunSummary[] {
  return namesIn(folder)
    .flatMap((run) => {
      const journal = loadJournal(path.join(folder, run, 'journal.jsonl'));
      if (journal === undefined) return [];
      const { suite, policy, startedAt, questions, conditions, seeds } = journal.head;
      return {
        run,
        suite,
        policy,
        startedAt,
        asked: journal.rows.length,
        questions: questions * conditions.length * seeds.length,
      };
    })
    .sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
}

/** Undefined when there is no such run. */
export function renderRun(folder: string, run: string): Rendered | undefined {
  const journal = loadJournal(path.join(folder, run, 'journal.jsonl'));
  if (journal === undefined) return undefined;
  const report: Report = makeReport(journal);
  const html = toHtml(report);
  return { json: toJson(report), table: (options) => toTable(report, options), html };
}

export const writePage = (file: string, html: string): void => writeFileSync(file, html, { mode: 0o600 });

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => statSync(path.join(folder, name)).isDirectory());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
