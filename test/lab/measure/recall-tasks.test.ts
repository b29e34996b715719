import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readTasks } from '../../../lab/measure/recall/read-tasks.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'instar-tasks-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const read = (text: string) => {
  const file = path.join(dir, 'tasks.jsonl');
  writeFileSync(file, text);
  return readTasks(file);
};
const lines = (...rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');
const LESSON = { id: 'L1', name: 'iso-dates', description: 'When writing a date.', content: 'ISO.' };

describe('a file of recall tasks', () => {
  it('has the lessons in its first line, then a task per line', () => {
    const { lessons, tasks } = read(
      lines(
        { lessons: [{ ...LESSON, triggers: ['which day'] }] },
        { query: 'the day please', right: ['L1'], kind: 'paraphrase' },
        { query: 'hello', right: [] },
      ),
    );
    expect(lessons).toEqual([{ ...LESSON, triggers: ['which day'] }]);
    expect(tasks).toEqual([
      { query: 'the day please', right: ['L1'], kind: 'paraphrase' },
      { query: 'hello', right: [], kind: 'unrelated' },
    ]);
  });

  it('may have a lesson per line, other names of the fields, and names for ids', () => {
    const { lessons, tasks } = read(
      lines(
        { type: 'lesson', ...LESSON },
        { type: 'pair', task: 'the day please', expected: 'iso-dates', kind: 'paraphrase' },
        { type: 'pair', prompt: 'who won', expected: null },
      ),
    );
    expect(lessons).toEqual([LESSON]);
    expect(tasks.map(({ right, kind }) => [right, kind])).toEqual([
      [['L1'], 'paraphrase'],
      [[], 'unrelated'],
    ]);
  });

  it('may be one document, and is refused with its line when it is no JSON or has no tasks', () => {
    expect(
      read(JSON.stringify({ lessons: [LESSON], tasks: [{ query: 'x', right: ['L1'] }] })).tasks,
    ).toHaveLength(1);
    expect(() => read(`${JSON.stringify({ lessons: [LESSON] })}\nnonsense`)).toThrow('line 2');
    expect(() => read(lines({ lessons: [LESSON] }))).toThrow('no lessons or no tasks');
  });
});
