import { readFileSync } from 'node:fs';
import {
  asArray,
  asObject,
  asString,
  compact,
  isObject,
  type JsonObject,
  parseJson,
} from '../../../src/core/json.ts';
import type { PairLesson } from './synthetic.ts';

/** A task and the lessons that it needs; none for an unrelated one. */
export interface RecallTask {
  readonly query: string;
  readonly right: readonly string[];
  readonly kind: string;
  readonly split?: string;
}

export interface RecallTasks {
  readonly lessons: readonly PairLesson[];
  readonly tasks: readonly RecallTask[];
}

/**
 * Reads lessons and tasks. The usual form is JSONL: `{"lessons": [{id, name, description, content, triggers?}]}` first, then
 * `{"query", "right": [ids], "kind"}` per line. Also read: one lesson per line, one JSON document, other usual names of the
 * fields, and names instead of ids. Throws when a line is no JSON or a task has no text. With `split`, only its tasks.
 */
export function readTasks(file: string, split?: string): RecallTasks {
  const rows = readRows(readFileSync(file, 'utf8'), file);
  const lessons = rows.flatMap((row, at) => lessonsOf(row, at));
  const ids = new Map(lessons.flatMap(({ id, name }) => [[name, id] as const, [id, id] as const]));
  const tasks = rows.flatMap((row) => tasksOf(row, ids, file));
  if (lessons.length === 0 || tasks.length === 0) throw new Error(`${file} has no lessons or no tasks`);
  return { lessons, tasks: split === undefined ? tasks : tasks.filter((task) => task.split === split) };
}

function readRows(text: string, file: string): readonly JsonObject[] {
  const whole = parseJson(text);
  if (isObject(whole)) return [whole];
  if (Array.isArray(whole)) return asArray(whole).map(asObject);
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line, at) => {
      const row = parseJson(line);
      if (!isObject(row)) throw new Error(`${file}: line ${at + 1} is not a JSON object`);
      return row;
    });
}

const firstText = (row: JsonObject, names: readonly string[]): string | undefined =>
  names.map((name) => asString(row[name])).find((text) => text !== undefined);

const QUERY = ['query', 'task', 'prompt', 'request', 'question', 'message', 'text'] as const;
const RIGHT = ['right', 'expected', 'relevant', 'answers', 'lesson_ids', 'lessons', 'ids'] as const;
const CONTENT = ['content', 'body', 'text', 'rule', 'lesson'] as const;

function lessonsOf(row: JsonObject, at: number): readonly PairLesson[] {
  if (Array.isArray(row.lessons) && asArray(row.lessons).every(isObject) && row.query === undefined)
    return asArray(row.lessons).map((lesson, number) => toLesson(asObject(lesson), number));
  const isOne =
    row.type === 'lesson' || (row.name !== undefined && row.content !== undefined && row.query === undefined);
  return isOne ? [toLesson(asObject(row.lesson ?? row), at)] : [];
}

function toLesson(row: JsonObject, at: number): PairLesson {
  const name = firstText(row, ['name', 'title', 'id']) ?? `lesson-${at}`;
  const triggers = asArray(row.triggers ?? asObject(row.note).triggers).flatMap((one) => asString(one) ?? []);
  return compact({
    id: String(row.id ?? name),
    name,
    description: firstText(row, ['description', 'when', 'summary']) ?? '',
    content: firstText(row, CONTENT) ?? '',
    triggers: triggers.length === 0 ? undefined : triggers,
  });
}

function tasksOf(row: JsonObject, ids: ReadonlyMap<string, string>, file: string): readonly RecallTask[] {
  const list = row.pairs ?? row.tasks ?? row.queries;
  if (Array.isArray(list)) return asArray(list).flatMap((one) => tasksOf(asObject(one), ids, file));
  if (row.type === 'lesson' || lessonsOf(row, 0).length > 0) return [];
  const query = firstText(row, QUERY);
  if (query === undefined)
    throw new Error(`${file}: a task has no query: ${JSON.stringify(row).slice(0, 120)}`);
  const named = RIGHT.map((name) => row[name]).find((value) => value !== undefined);
  const right = (Array.isArray(named) ? asArray(named) : named === undefined || named === null ? [] : [named])
    .map((one) => (isObject(one) ? one.id : one))
    .map(String)
    .map((one) => ids.get(one) ?? one);
  const kind = firstText(row, ['kind', 'style', 'category']) ?? (right.length === 0 ? 'unrelated' : 'plain');
  return [compact({ query, right, kind, split: asString(row.split) })];
}
