import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { codeOf } from '../../../src/agent/sandbox/workspace-limits.ts';
import { findJsonFault } from '../../../src/config/json-fault.ts';
import { parseJson } from '../../../src/core/json.ts';

const text = z.string({ error: 'must be text in double quotes' });
const filled = text.min(1, 'must not be empty');
/** Becomes a part of a path. */
const plainName = filled.regex(/^\w[\w-]*$/, 'must be a plain name like day01');
const texts = z.record(z.string(), text, { error: 'must be an object of texts' });

/** `all_tests.json`: the days in order. */
export const SUITE_SCHEMA = z.object({
  test: z
    .array(
      z.object({
        id: plainName,
        desc: text.default(''),
        eval: plainName,
        arc: text.optional(),
        preference_tags: z.array(text, { error: 'must be a list of texts' }).default([]),
      }),
      { error: 'must be a list of days' },
    )
    .min(1, 'must hold at least one day')
    .superRefine((days, context) => {
      for (const [index, { id }] of days.entries())
        if (days.findIndex((day) => day.id === id) < index)
          context.addIssue({
            code: 'custom',
            path: [index, 'id'],
            message: `${id} occurs twice: list each day once`,
          });
    }),
});

/** The published data does not use it; to ignore it silently would change the benchmark. */
const update = z
  .array(z.unknown())
  .max(0, 'changes of the workspace between questions are not supported: take them out')
  .optional();

const choice = z.object({
  id: plainName,
  type: z.literal('multi_choice'),
  question: filled,
  feedback: z.object(
    { correct: text, options: texts },
    { error: 'must be an object with correct and options' },
  ),
  eval: z
    .strictObject({
      type: text.optional(),
      options: texts.refine((options) => Object.keys(options).length > 1, 'must hold at least two options'),
      answer: z.array(text, { error: 'must be a list of letters' }).min(1, 'must hold at least one letter'),
    })
    .superRefine(({ options, answer }, context) => {
      const stranger = answer.find((letter) => !Object.hasOwn(options, letter));
      if (stranger !== undefined)
        context.addIssue({
          code: 'custom',
          path: ['answer'],
          message: `${stranger} is not one of the options: correct the answer or the options`,
        });
      if (new Set(answer).size < answer.length)
        context.addIssue({
          code: 'custom',
          path: ['answer'],
          message: 'names a letter twice: name each once',
        });
    }),
  update,
});

const files = z.object({
  id: plainName,
  type: z.literal('file_check'),
  question: filled,
  feedback: z.object(
    { correct: text, incorrect: filled },
    { error: 'must be an object with correct and incorrect' },
  ),
  eval: z.strictObject({
    type: text.optional(),
    command: filled,
    expect_exit: z.int({ error: 'must be a whole number' }).min(0).max(255).default(0),
    expect_stdout: text.optional(),
    timeout: z
      .number({ error: 'must be a number of seconds' })
      .positive('must be a number of seconds')
      .max(600)
      .optional(),
  }),
  update,
});

/** `eval/dayNN/questions.json` */
export const QUESTIONS_SCHEMA = z.object({
  rounds: z
    .array(
      z.discriminatedUnion('type', [choice, files], { error: 'must be of type multi_choice or file_check' }),
      {
        error: 'must be a list of questions',
      },
    )
    .min(1, 'must hold at least one question')
    .superRefine((rounds, context) => {
      for (const [index, { id }] of rounds.entries())
        if (rounds.findIndex((round) => round.id === id) < index)
          context.addIssue({
            code: 'custom',
            path: [index, 'id'],
            message: `${id} occurs twice: list each question once`,
          });
    }),
});

/** By question, `day01/r1`: shell commands that solve it. */
export const ORACLE_SCHEMA = z.record(z.string(), z.array(filled).min(1, 'must hold at least one command'), {
  error: 'must be an object of lists of commands',
});

export type DayEntry = z.infer<typeof SUITE_SCHEMA>['test'][number];
export type Round = z.infer<typeof QUESTIONS_SCHEMA>['rounds'][number];
export type ChoiceRound = z.infer<typeof choice>;
export type FilesRound = z.infer<typeof files>;
export type Oracle = z.infer<typeof ORACLE_SCHEMA>;

/** An error in the benchmark's files that must be fixed before a run. The message names file, field and fix. */
export class MetaclawDataError extends Error {
  override readonly name = 'MetaclawDataError';
  readonly fix: string | undefined;

  constructor(message: string, fix?: string) {
    super(message);
    this.fix = fix;
  }
}

/** Reads a JSON file by its schema. Rejects with a MetaclawDataError that names the file and each wrong field. */
export async function readDataFile<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  const text = await readDataText(file);
  const data = parseJson(text);
  if (data === undefined) {
    const fault = findJsonFault(text);
    const where = fault === undefined ? '' : ` (line ${fault.line}, column ${fault.column}: ${fault.what})`;
    throw new MetaclawDataError(`${file} is not JSON${where}: fetch the data again`);
  }
  const read = schema.safeParse(data);
  if (read.success) return read.data;
  const wrong = read.error.issues.slice(0, 5).map((issue) => `${fieldOf(issue.path)}: ${issue.message}`);
  throw new MetaclawDataError(`${file}: ${wrong.join('; ')}`);
}

/** Reads a text file. Rejects with a MetaclawDataError if it is missing or not UTF-8. */
async function readDataText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      throw new MetaclawDataError(
        `${file} is not there: point to a folder that holds all_tests.json, eval/ and workspaces/`,
      );
    if (error instanceof TypeError)
      throw new MetaclawDataError(`${file} is not UTF-8 text: fetch the data again`);
    throw new MetaclawDataError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** `rounds[2].eval.answer` */
const fieldOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '') || 'the whole file';

/** The limit of a day's materials; the published ones have some kilobytes. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The agent's files on a day: those beside the day folders, and the day's own folder; nothing of other days, whose materials would reveal
 * their answers, and nothing of the checks. By path with `/`. Rejects with a MetaclawDataError for a file that is not text.
 */
export async function readDayTexts(
  workspaces: string,
  day: string,
): Promise<Readonly<Record<string, string>>> {
  const found: [string, string][] = [];
  const left = { bytes: MOST_BYTES };
  for (const name of await namesIn(workspaces)) {
    const at = path.join(workspaces, name);
    if ((await lstat(at)).isFile()) found.push([name, await readOne(at, left)]);
  }
  const waiting = [day];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop())
    for (const name of await namesIn(path.join(workspaces, folder))) {
      const inside = `${folder}/${name}`;
      const at = path.join(workspaces, inside);
      if ((await lstat(at)).isDirectory()) waiting.push(inside);
      else found.push([inside, await readOne(at, left)]);
    }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Dot files are leftovers of editors and systems. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined)
    throw new MetaclawDataError(`${folder} is not a folder that can be read: fetch the data again`);
  return names.filter((name) => !name.startsWith('.'));
}

async function readOne(at: string, left: { bytes: number }): Promise<string> {
  const found = await lstat(at);
  if (!found.isFile())
    throw new MetaclawDataError(`${at} is not a plain file: replace it by what it leads to`);
  left.bytes -= found.size;
  if (left.bytes < 0)
    throw new MetaclawDataError(`${at}: the day holds more than ${MOST_BYTES} bytes: take files out`);
  return readDataText(at);
}
