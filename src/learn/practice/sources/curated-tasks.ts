import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage } from '../../../core/failure.ts';
import {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
  toJson,
} from '../../../core/json.ts';
import { type Ask, NO_COST } from '../../../core/learn.ts';
import type {
  PracticeSource,
  PracticeTask,
  TaskCheck,
  TasksWanted,
  WorkspaceSnapshot,
} from '../../../core/practice.ts';
import type { PracticeVerifierRow, VerifierRow } from '../../../core/verifier-row.ts';
import { createVerifiers } from '../../../evidence/verifiers/registry.ts';
import { closestWord } from '../../../text/closest-word.ts';
import { type LooseJson, readLooseJson, TooDeepError } from '../../../text/loose-json.ts';
import { fieldOf } from '../../reply-fields.ts';
import { type EmbedTexts, withoutNearTasks } from './near-tasks.ts';
import { rootOf, taskId } from './split.ts';

/** A line of a task file that could not be used, with what to do about it. */
export interface CuratedFault {
  readonly file: string;
  readonly line: number;
  readonly what: string;
  readonly fix: string;
}

interface CuratedTasks {
  readonly tasks: readonly PracticeTask[];
  readonly faults: readonly CuratedFault[];
  /** Lines that repeat another task. */
  readonly duplicates: number;
}

interface CuratedOptions {
  readonly files: readonly string[];
  readonly embed?: EmbedTexts;
  readonly onFault?: (fault: CuratedFault) => void;
}

/** Files of tasks that people wrote, one JSON object per line. Faulty lines cost themselves only. */
export const createCuratedTasks = ({ files, embed, onFault }: CuratedOptions): PracticeSource => ({
  origin: 'curated',
  find: async (wanted, signal) => {
    const found: PracticeTask[] = [];
    for (const file of files) {
      if (signal.aborted) break;
      const { tasks, faults } = await readCuratedFile(file, embed);
      for (const fault of faults) onFault?.(fault);
      found.push(...tasks.filter((task) => fits(task, wanted)));
    }
    return (await withoutNearTasks(found, embed)).slice(0, wanted.count);
  },
});

const fits = (task: PracticeTask, { domain, agent, project }: TasksWanted): boolean =>
  (domain === undefined || task.domain === domain) &&
  (agent === undefined || task.agent === undefined || task.agent === agent) &&
  (project === undefined || task.project === undefined || task.project === project);

const MOST_BYTES = 64 * 1024 * 1024;
const LONGEST_PROMPT = 32_000;

/** Rejects only when the file cannot be read. */
async function readCuratedFile(file: string, embed?: EmbedTexts): Promise<CuratedTasks> {
  const text = await readFile(file, 'utf8');
  if (Buffer.byteLength(text) > MOST_BYTES) throw new Error(`${file} has more than 64 MB; split it`);
  return readCuratedTasks(text, file, embed);
}

export async function readCuratedTasks(
  text: string,
  file: string,
  embed?: EmbedTexts,
): Promise<CuratedTasks> {
  const tasks: PracticeTask[] = [];
  const faults: CuratedFault[] = [];
  for (const { line, value, fault } of valuesIn(text)) {
    const read = fault ?? (await readTask(value, path.dirname(path.resolve(file))));
    if ('what' in read) faults.push({ file, line, ...read });
    else tasks.push(read);
  }
  const kept = await withoutNearTasks(tasks, embed);
  return { tasks: kept, faults, duplicates: tasks.length - kept.length };
}

interface LineFault {
  readonly what: string;
  readonly fix: string;
}

/** Lines of JSON; also a list over several lines, comments, blank lines, trailing commas and a byte order mark. */
function* valuesIn(
  text: string,
): Generator<{ readonly line: number; readonly value: Json; readonly fault?: LineFault }> {
  const plain = text.replace(/^\uFEFF/, '');
  const whole = plain.trimStart().startsWith('[') ? readLoose(plain, '[') : undefined;
  if (whole !== undefined && Array.isArray(whole.value)) {
    for (const [index, value] of asArray(whole.value).entries()) yield { line: index + 1, value };
    return;
  }
  for (const [index, raw] of plain.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith('//')) continue;
    const value = parseJson(line) ?? readLoose(line, '{')?.value;
    if (value === undefined)
      yield {
        line: index + 1,
        value: null,
        fault: { what: 'is not JSON', fix: 'write one object per line: {"prompt": "…", "answer": "…"}' },
      };
    else yield { line: index + 1, value };
  }
}

/** JSON as people write it: comments, single quotes, a comma too many. A value that is cut off is not guessed at. */
function readLoose(text: string, open: '{' | '['): LooseJson | undefined {
  const start = text.indexOf(open);
  if (start < 0) return undefined;
  try {
    const read = readLooseJson(text, start);
    return read?.isCut === true ? undefined : read;
  } catch (error) {
    if (error instanceof TooDeepError) return undefined;
    throw error;
  }
}

const PROMPT = ['prompt', 'task', 'question', 'problem', 'instruction', 'input', 'query', 'request'];
const ANSWER = ['answer', 'reference', 'expected', 'solution', 'groundTruth', 'target', 'output', 'gold'];
const CHECK = ['check', 'verifier', 'verify', 'grader', 'test', 'command'];
const KNOWN = new Set(
  [
    ...PROMPT,
    ...ANSWER,
    ...CHECK,
    'files',
    'workspace',
    'domain',
    'system',
    'agent',
    'project',
    'id',
    'root',
    'repository',
    'commit',
    'diff',
    'history',
    'followUps',
    'expectedSuccess',
    'source',
    'note',
    'match',
  ].map((name) => name.toLowerCase()),
);

async function readTask(value: Json, folder: string): Promise<PracticeTask | LineFault> {
  const given: JsonObject = typeof value === 'string' ? { prompt: value } : asObject(value);
  if (!isObject(value) && typeof value !== 'string')
    return { what: 'is no object', fix: 'write {"prompt": "…"}' };
  const prompt = asString(fieldOf(given, PROMPT))?.trim();
  if (prompt === undefined || prompt === '') return noPrompt(given);
  if (prompt.length > LONGEST_PROMPT)
    return {
      what: `has a prompt of ${prompt.length} characters`,
      fix: `shorten it to ${LONGEST_PROMPT}, or put the text into "files"`,
    };
  const domain = asString(given.domain)?.trim().toLowerCase() || 'general';
  const workspace = readWorkspace(given, folder);
  if (workspace !== undefined && 'what' in workspace) return workspace;
  const reference = fieldOf(given, ANSWER);
  const check = await readCheck(
    fieldOf(given, CHECK) ?? strictCheck(given, reference),
    reference,
    workspace !== undefined,
  );
  if (check !== undefined && 'what' in check) return check;
  const named = asString(given.root) ?? asString(given.id);
  const place = workspace === undefined ? '' : JSON.stringify(workspace);
  const root = named === undefined ? rootOf(domain, prompt, place) : rootOf(domain, named);
  const texts = ['system', 'agent', 'project'] as const;
  const followUps = asArray(given.followUps).flatMap((text) => asString(text) ?? []);
  return {
    id: taskId('curated', root, prompt, place),
    root,
    origin: 'curated',
    prompt,
    domain,
    ...Object.fromEntries(texts.flatMap((name) => (asString(given[name]) ? [[name, given[name]]] : []))),
    ...(followUps.length === 0 ? {} : { followUps }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(check === undefined ? {} : { check }),
    ...(reference === undefined ? {} : { reference }),
  };
}

/** `"match": "exact"` beside an answer: the strict form, without a check of its own. */
const strictCheck = ({ match }: JsonObject, reference: Json | undefined): JsonObject | undefined =>
  match === 'exact' && reference !== undefined ? { kind: 'exact', match } : undefined;

function noPrompt(given: JsonObject): LineFault {
  const unknown = Object.keys(given).find((name) => !KNOWN.has(name.toLowerCase()));
  const near = unknown === undefined ? undefined : closestWord(unknown, PROMPT);
  return {
    what: 'has no prompt',
    fix: near === undefined ? 'add "prompt": "what is to be done"' : `rename "${unknown}" to "${near}"`,
  };
}

function readWorkspace(given: JsonObject, folder: string): WorkspaceSnapshot | LineFault | undefined {
  const stated = asObject(given.workspace);
  const files = given.files ?? stated.files;
  const repository = asString(given.repository) ?? asString(stated.repository);
  if (files !== undefined && files !== null) {
    if (!isObject(files))
      return { what: 'has files that are no object', fix: 'write "files": {"path": "text"}' };
    const bad = Object.entries(files).find(
      ([name, text]) =>
        typeof text !== 'string' || path.isAbsolute(name) || name.split(/[\\/]/).includes('..'),
    );
    if (bad !== undefined)
      return {
        what: `has a file "${bad[0]}" that cannot be placed`,
        fix: 'use relative paths without "..", and texts',
      };
    return {
      kind: 'files',
      files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, String(text)])),
    };
  }
  if (repository === undefined) return undefined;
  const commit = asString(given.commit) ?? asString(stated.commit);
  if (commit === undefined || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(commit))
    return {
      what: 'has a repository without the full id of a commit',
      fix: 'add "commit": the output of git rev-parse HEAD',
    };
  const diff = asString(given.diff) ?? asString(stated.diff);
  return {
    kind: 'git',
    repository: path.resolve(folder, repository),
    commit: commit.toLowerCase(),
    ...(diff === undefined ? {} : { diff }),
  };
}

/** A row of a verifier, or a short form: a string is a command where there are files, else a pattern in slashes. */
async function readCheck(
  given: Json | undefined,
  reference: Json | undefined,
  hasWorkspace: boolean,
): Promise<TaskCheck | LineFault | undefined> {
  const row = rowOf(given, reference, hasWorkspace);
  if (row === undefined) return undefined;
  if (isFault(row)) return row;
  try {
    // Creating it reports what is wrong with its options.
    await createVerifiers([{ ...row, domain: '*' } as VerifierRow | PracticeVerifierRow], {
      ask: ASK_NOBODY,
    });
    return row as TaskCheck;
  } catch (error) {
    return {
      what: `has a check that cannot be used: ${errorMessage(error)}`,
      fix: `the kinds of checks are ${KINDS.join(', ')}`,
    };
  }
}

/** Checks are only created here; what they ask comes later. */
const ASK_NOBODY: Ask = async () => ({ ok: false, why: 'not asked', isRetryable: true, cost: NO_COST });

const KINDS = ['exact', 'number', 'regex', 'schema', 'rubric', 'module', 'command', 'comparative'];

function kindFault(kind: string): LineFault {
  const near = closestWord(kind, KINDS);
  return {
    what: `has a check of the unknown kind "${kind}"`,
    fix: near === undefined ? `use one of ${KINDS.join(', ')}` : `did you mean "${near}"?`,
  };
}

const isFault = (value: JsonObject | LineFault): value is LineFault =>
  typeof value.what === 'string' && typeof value.fix === 'string';

function rowOf(
  given: Json | undefined,
  reference: Json | undefined,
  hasWorkspace: boolean,
): JsonObject | LineFault | undefined {
  if (given === undefined) {
    if (typeof reference === 'number') return { kind: 'number', expected: reference };
    // An answer of a few words can be compared; a longer one is a reference for a judge.
    return typeof reference === 'string' && reference.length <= 80 && !reference.includes('\n')
      ? { kind: 'exact', expected: reference }
      : undefined;
  }
  if (Array.isArray(given)) {
    const isCommand = hasWorkspace && given.every((word) => typeof word === 'string');
    return isCommand ? { kind: 'command', command: given } : rubricOf(given);
  }
  if (typeof given === 'string') {
    const pattern = /^\/(.{1,2000})\/([a-z]{0,6})$/s.exec(given);
    if (pattern !== null)
      return { kind: 'regex', pattern: pattern[1], ...(pattern[2] ? { flags: pattern[2] } : {}) };
    if (hasWorkspace) return { kind: 'command', command: given };
    return { kind: 'rubric', criteria: [{ text: given }] };
  }
  if (!isObject(given))
    return {
      what: 'has a check that is no object',
      fix: 'write "check": {"kind": "exact", "expected": "…"}',
    };
  const { domain: _, ...row } = given;
  const kind = asString(row.kind);
  if (kind !== undefined) return KINDS.includes(kind) ? withExpected(row, reference) : kindFault(kind);
  if (row.command !== undefined) return { kind: 'command', ...row };
  if (row.pattern !== undefined) return { kind: 'regex', ...row };
  if (row.schema !== undefined) return { kind: 'schema', ...row };
  if (row.criteria !== undefined) return { kind: 'rubric', ...row };
  if (row.expected !== undefined)
    return { kind: typeof row.expected === 'number' ? 'number' : 'exact', ...row };
  return {
    what: 'has a check without a kind',
    fix: `add "kind": one of ${KINDS.join(', ')}`,
  };
}

const rubricOf = (lines: readonly Json[]): JsonObject | LineFault => {
  const criteria = lines.flatMap((line) =>
    typeof line === 'string' ? [{ text: line }] : isObject(line) ? [line] : [],
  );
  return criteria.length === 0
    ? { what: 'has an empty check', fix: 'remove it, or list what a good answer must do' }
    : { kind: 'rubric', criteria: criteria.map(toJson) };
};

const withExpected = (row: JsonObject, reference: Json | undefined): JsonObject =>
  (row.kind === 'exact' || row.kind === 'number') &&
  row.expected === undefined &&
  row.answers === undefined &&
  reference !== undefined
    ? { ...row, expected: reference }
    : row;
