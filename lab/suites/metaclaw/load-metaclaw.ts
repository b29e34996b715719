import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Suite, SuiteDay, SuiteQuestion } from '../suite.ts';
import {
  type DayEntry,
  MetaclawDataError,
  ORACLE_SCHEMA,
  type Oracle,
  QUESTIONS_SCHEMA,
  type Round,
  readDataFile,
  readDayTexts,
  SUITE_SCHEMA,
} from './data-files.ts';
import type { CheckStep } from './parse-command.ts';
import { PART1_WORK } from './part1-work.ts';
import { datesInNames, pinnedDate, sayDate } from './pinned-date.ts';
import { choiceQuestion, fileQuestion, type ParsedFileQuestion, type Solver } from './questions.ts';
import { rulesNamedIn, rulesOf } from './rules.ts';
import { commandsFor } from './scripted-work.ts';

interface MetaclawParts {
  /** Contains `all_tests.json`, `eval/` and `workspaces/`, as published. Only read. */
  readonly folder: string;
  /** A file with commands that solve file questions, by question; without it the scripted policies know part I. */
  readonly oracle?: string;
  /** Only this many first days; the others need not be there. */
  readonly days?: number;
}

export interface MetaclawSuite extends Suite {
  /** Remarks on the data for a reader of its results. */
  readonly notes: readonly string[];
}

/**
 * The published benchmark with our own checks, which the agent never sees. Rejects with a MetaclawDataError that names file, field and
 * fix: nothing is skipped silently.
 */
export async function loadMetaclaw({ folder, oracle, days: first }: MetaclawParts): Promise<MetaclawSuite> {
  const { test: entries } = await readDataFile(path.join(folder, 'all_tests.json'), SUITE_SCHEMA);
  const solutions = oracle === undefined ? undefined : await readDataFile(oracle, ORACLE_SCHEMA);
  if (first !== undefined && first > entries.length)
    throw new MetaclawDataError(
      `${folder} has ${entries.length} days, not ${first}.`,
      `give --days a number up to ${entries.length}, or leave it out`,
    );
  const shared = path.join(folder, 'workspaces', 'shared');
  const isNested = await stat(shared).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const workspaces = isNested ? shared : path.dirname(shared);
  const read: ReadDay[] = [];
  for (const entry of entries.slice(0, first))
    read.push(await readDay({ folder, workspaces, entry, solutions }));
  const days = read.map(({ day }) => day);
  if (oracle !== undefined && solutions !== undefined && first === undefined)
    refuseStrangers(oracle, solutions, days);
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
  readonly solutions: Oracle | undefined;
}

async function readDay({ folder, workspaces, entry, solutions }: DayParts): Promise<ReadDay> {
  const file = path.join(folder, 'eval', entry.eval, 'questions.json');
  await mustHaveDay(folder, entry, file, path.join(workspaces, entry.id));
  const { rounds } = await readDataFile(file, QUESTIONS_SCHEMA);
  const texts = await readDayTexts(workspaces, entry.id);
  const readme = texts[`${entry.id}/README.md`] ?? '';
  const date = pinnedDate(readme, JSON.stringify(rounds));
  const checked: ParsedFileQuestion[] = [];
  const solve = solverFor(entry.id, date, rounds, solutions);
  const questions = rounds.map((round, index): SuiteQuestion => {
    const id = `${entry.id}/${round.id}`;
    if (round.type === 'multi_choice') return choiceQuestion(id, round);
    const read = readFileQuestion(file, index, id, round, solve);
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
  solve: Solver,
): ParsedFileQuestion {
  try {
    return fileQuestion(id, round, solve);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new MetaclawDataError(
      `${file}: rounds[${index}].eval.command: ${why}. Write it as python scripts/check_NAME.py … or python -c "…", joined by &&`,
    );
  }
}

/** A day that is listed has its questions and its files. Rejects with a MetaclawDataError that names the day. */
async function mustHaveDay(
  folder: string,
  { id }: DayEntry,
  questions: string,
  files: string,
): Promise<void> {
  for (const place of [questions, files])
    await stat(place).catch(() => {
      throw new MetaclawDataError(
        `${id} is listed in ${path.join(folder, 'all_tests.json')}, but ${place} is missing.`,
        'fetch the data again, take the day out of all_tests.json, or run only the days before it with --days',
      );
    });
}

/** The given commands, or those of the scripted work where the day's questions are the published ones. */
function solverFor(
  day: string,
  date: string | undefined,
  rounds: readonly Round[],
  given: Oracle | undefined,
): Solver {
  if (given !== undefined)
    return (id) => {
      const commands = Object.hasOwn(given, id) ? given[id] : undefined;
      return commands && (() => commands);
    };
  const scripted = Object.hasOwn(PART1_WORK, day) ? PART1_WORK[day] : undefined;
  const digest = createHash('sha256').update(rounds.map(({ question }) => `${question}\n`).join(''));
  if (scripted?.digest !== digest.digest('hex').slice(0, 16) || date === undefined) return () => undefined;
  return (id, rules) => {
    const work = scripted.work[id.slice(day.length + 1)];
    if (work === undefined) return undefined;
    const isChecked = (rule: string): boolean => rules.includes(rule);
    return (obeyed) =>
      commandsFor(work, { day, date, isChecked, follows: (rule) => !isChecked(rule) || obeyed.has(rule) });
  };
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

interface DayMaterials {
  readonly day: string;
  readonly texts: Readonly<Record<string, string>>;
  readonly date: string | undefined;
  /** Its file questions in order. */
  readonly checked: readonly ParsedFileQuestion[];
}

/** Remarks on irregularities of a published day. The day is not changed, so that results are comparable. */
function notesOnDay({ day, texts, date, checked }: DayMaterials): readonly string[] {
  const readme = `${day}/README.md`;
  const named = rulesNamedIn(texts[readme] ?? '');
  const notes =
    named.length === 0 ? [] : [`${readme} tells the agent of the rules ${named.join(', ')} by name`];
  if (date === undefined) notes.push(`${day}: nothing says which date it is`);
  const log = texts['done.log'];
  const before = log === undefined ? 0 : log.split('\n').filter((line) => line.trim() !== '').length;
  for (const [index, { question, steps, notes: found }] of checked.entries()) {
    notes.push(...found.map((note) => `${question.id}: ${note}`));
    const other = steps.flatMap(datesIn).find((wanted) => wanted !== date);
    if (other !== undefined && date !== undefined)
      notes.push(`${question.id} asks for a file dated ${other}, and the agent is told that it is ${date}`);
    const entries = Math.max(0, ...steps.map((step) => (step.kind === 'done-log' ? step.minEntries : 0)));
    if (entries > before + index + 1)
      notes.push(
        `${question.id} asks for ${entries} entries in done.log, and the day gave ${before + index + 1} tasks so far`,
      );
  }
  return notes;
}

const datesIn = (step: CheckStep): readonly string[] =>
  step.kind === 'python' ? datesInNames(step.code) : [];

/** The agent's identity files: at the start of every conversation, as in agents that use such files. */
const IDENTITY_FILES = ['AGENTS.md', 'IDENTITY.md', 'SOUL.md', 'TOOLS.md', 'USER.md'];

/** The system prompt: the date, the folders, and the identity files. */
function systemPrompt(
  day: string,
  texts: Readonly<Record<string, string>>,
  date: string | undefined,
): string {
  const known = IDENTITY_FILES.flatMap((name) => {
    const text = texts[name];
    return text === undefined ? [] : [`## ${name}\n\n${text.trim()}`];
  });
  const facts = [
    'Your workspace is the current folder of every command that you run; paths are relative to it.',
    `What belongs to today's work lies in ${day}/.`,
    // Not in the feedback: what the harness adds to a person's words would be learned as theirs.
    'A message may begin with what the user says about the task before. Bear it in mind for what follows, and do not return to the finished task.',
    ...(date === undefined ? [] : [`Today is ${sayDate(date)}, whatever the clock of this machine says.`]),
  ];
  if (known.length === 0) return facts.join('\n');
  const about =
    'These files of the workspace say who you are and whom you work for. Where they name tools that you do not have, use those you have.';
  return [facts.join('\n'), `# Context\n\n${about}`, ...known].join('\n\n');
}
