import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Suite, SuiteDay, SuiteQuestion } from '../suite/suite.ts';
import { choiceQuestion } from './choice-question.ts';
import { MetaclawDataError } from './data-error.ts';
import {
  type DayEntry,
  ORACLE_SCHEMA,
  type Oracle,
  QUESTIONS_SCHEMA,
  type Round,
  SUITE_SCHEMA,
} from './data-schema.ts';
import { notesOnDay } from './day-notes.ts';
import { readDayTexts } from './day-texts.ts';
import { fileQuestion, type ReadFileQuestion } from './file-question.ts';
import { pinnedDate } from './pinned-date.ts';
import { readDataFile } from './read-data-file.ts';
import { rulesOf } from './rules.ts';
import { systemPrompt } from './system-prompt.ts';

export interface MetaclawParts {
  /** Holds `all_tests.json`, `eval/` and `workspaces/`, as published. Only read. */
  readonly folder: string;
  /** A file with commands that solve file questions, by question. */
  readonly oracle?: string;
}

export interface MetaclawSuite extends Suite {
  /** What of the data a reader of its results should know. */
  readonly notes: readonly string[];
}

/**
 * The published benchmark, under checks of our own that the agent never sees. Rejects with a MetaclawDataError that names
 * file, field and mend: nothing is left out in silence.
 */
export async function loadMetaclaw({ folder, oracle }: MetaclawParts): Promise<MetaclawSuite> {
  const { test: entries } = await readDataFile(path.join(folder, 'all_tests.json'), SUITE_SCHEMA);
  const solutions = oracle === undefined ? {} : await readDataFile(oracle, ORACLE_SCHEMA);
  const shared = path.join(folder, 'workspaces', 'shared');
  const isNested = await stat(shared).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const workspaces = isNested ? shared : path.dirname(shared);
  const read: ReadDay[] = [];
  for (const entry of entries) read.push(await readDay({ folder, workspaces, entry, solutions }));
  const days = read.map(({ day }) => day);
  if (oracle !== undefined) refuseStrangers(oracle, solutions, days);
  return {
    name: 'metaclaw',
    rules: rulesOf(entries.map(({ preference_tags: tags }) => tags)),
    days,
    notes: read.flatMap(({ notes }) => notes),
  };
}

interface ReadDay {
  readonly day: SuiteDay;
  readonly notes: readonly string[];
}

interface DayParts {
  readonly folder: string;
  readonly workspaces: string;
  readonly entry: DayEntry;
  readonly solutions: Oracle;
}

async function readDay({ folder, workspaces, entry, solutions }: DayParts): Promise<ReadDay> {
  const file = path.join(folder, 'eval', entry.eval, 'questions.json');
  const { rounds } = await readDataFile(file, QUESTIONS_SCHEMA);
  const texts = await readDayTexts(workspaces, entry.id);
  const readme = texts[`${entry.id}/README.md`] ?? '';
  const date = pinnedDate(readme, JSON.stringify(rounds));
  const checked: ReadFileQuestion[] = [];
  const questions = rounds.map((round, index): SuiteQuestion => {
    const id = `${entry.id}/${round.id}`;
    if (round.type === 'multi_choice') return choiceQuestion(id, round);
    const read = readFileQuestion(file, index, id, round, solutions);
    checked.push(read);
    return read.question;
  });
  const day: SuiteDay = {
    id: entry.id,
    about: entry.desc,
    ...(entry.arc !== undefined && { arc: entry.arc }),
    system: systemPrompt(entry.id, texts, date),
    files: { texts },
    conversation: 'day',
    shell: 'confined',
    questions,
  };
  return { day, notes: notesOnDay({ day: entry.id, texts, date, checked }) };
}

function readFileQuestion(
  file: string,
  index: number,
  id: string,
  round: Extract<Round, { type: 'file_check' }>,
  solutions: Oracle,
): ReadFileQuestion {
  try {
    return fileQuestion(id, round, Object.hasOwn(solutions, id) ? solutions[id] : undefined);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new MetaclawDataError(
      `${file}: rounds[${index}].eval.command: ${why}. Write it as python scripts/check_NAME.py … or python -c "…", joined by &&`,
    );
  }
}

function refuseStrangers(oracle: string, solutions: Oracle, days: readonly SuiteDay[]): void {
  const questions = new Set(
    days.flatMap((day) => day.questions.filter(({ kind }) => kind === 'files').map(({ id }) => id)),
  );
  const stranger = Object.keys(solutions).find((id) => !questions.has(id));
  if (stranger !== undefined)
    throw new MetaclawDataError(
      `${oracle}: ${stranger}: the data has no such file question: take it out, or give the data it is for`,
    );
}
