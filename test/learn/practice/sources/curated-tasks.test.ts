import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createCuratedTasks,
  readCuratedTasks,
} from '../../../../src/learn/practice/sources/curated-tasks.ts';
import { scratch } from '../../../record/store/scratch.ts';

const { signal } = new AbortController();
const read = (...lines: readonly (object | string)[]) =>
  readCuratedTasks(
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    '/tasks.jsonl',
  );

describe('a file of tasks', () => {
  it('is read whatever its author calls the fields, and with small slips of form', async () => {
    const { tasks, faults } = await read(
      '\uFEFF# my tasks',
      { question: 'What is 6 times 7?', answer: 42, domain: 'Math' },
      "{'prompt': 'Name the capital of France', 'expected': 'Paris',}",
      { Task: 'Write a haiku about the sea', check: ['It has three lines', 'It names the sea'] },
      '"Explain what a mutex is for"',
      '',
    );
    expect(faults).toEqual([]);
    expect(tasks.map(({ domain, check, reference }) => ({ domain, check, reference }))).toEqual([
      { domain: 'math', check: { kind: 'number', expected: 42 }, reference: 42 },
      { domain: 'general', check: { kind: 'exact', expected: 'Paris' }, reference: 'Paris' },
      {
        domain: 'general',
        check: { kind: 'rubric', criteria: [{ text: 'It has three lines' }, { text: 'It names the sea' }] },
        reference: undefined,
      },
      { domain: 'general', check: undefined, reference: undefined },
    ]);
  });

  it('costs a faulty line itself only, and says its number, what is wrong and what to do', async () => {
    const { tasks, faults } = await read(
      { prompt: 'Count the vowels of a word', answer: 'three' },
      '{"prompt": "cut off',
      { promt: 'Count the letters of a word' },
      { prompt: 'Fix the parser', check: { kind: 'nubmer', expected: 1 } },
      { prompt: 'Fix the reader', files: { '../../etc/passwd': 'x' } },
      { prompt: 'Fix the writer', repository: '.', commit: 'main' },
    );
    expect(tasks).toHaveLength(1);
    expect(faults.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6]);
    expect(faults[0]?.what).toBe('is not JSON');
    expect(faults[1]).toMatchObject({ what: 'has no prompt', fix: 'rename "promt" to "prompt"' });
    expect(faults[2]?.what).toContain('nubmer');
    expect(faults[3]?.what).toContain('../../etc/passwd');
    expect(faults[4]?.fix).toContain('git rev-parse HEAD');
  });

  it('gives a string as check its meaning: a command where there are files, a pattern in slashes, else a criterion', async () => {
    const { tasks } = await read(
      { prompt: 'Fix the sum function', files: { 'sum.js': 'x' }, check: 'node --test' },
      { prompt: 'Say hello in French', check: '/bonjour/i' },
      { prompt: 'Describe the weather today', check: 'It is polite.' },
    );
    expect(tasks.map(({ check }) => check)).toEqual([
      { kind: 'command', command: 'node --test' },
      { kind: 'regex', pattern: 'bonjour', flags: 'i' },
      { kind: 'rubric', criteria: [{ text: 'It is polite.' }] },
    ]);
  });

  it('has near duplicates as one task, by meaning or without a model by words, but not those of different files', async () => {
    const same = [
      { prompt: 'Sort the list of invoices by their date' },
      { prompt: 'please sort the list of the invoices by date' },
      { prompt: 'Translate the menu into French' },
      { prompt: 'Fix the failing test', files: { 'a.js': '1' } },
      { prompt: 'Fix the failing test', files: { 'a.js': '2' } },
    ];
    expect(await read(...same)).toMatchObject({ duplicates: 1, tasks: { length: 4 } });
    const vectors = [
      [1, 0],
      [0.9, Math.sqrt(0.19)],
      [0, 1],
      [-1, 0],
      [-1, 0],
    ].map((one) => Float32Array.from(one));
    const byMeaning = await readCuratedTasks(
      same.map((one) => JSON.stringify(one)).join('\n'),
      'x',
      async () => vectors,
    );
    expect(byMeaning.duplicates).toBe(1);
  });

  it('yields the same ids when it is read again, and its tasks by domain', async () => {
    const file = path.join(scratch(), 'tasks.jsonl');
    writeFileSync(
      file,
      '{"prompt":"Add two and three","answer":5,"domain":"math"}\n{"prompt":"Name a river in Spain"}\n',
    );
    const source = createCuratedTasks({ files: [file] });
    const first = await source.find({ count: 10 }, signal);
    expect(first).toEqual(await source.find({ count: 10 }, signal));
    expect(await source.find({ count: 10, domain: 'math' }, signal)).toHaveLength(1);
    expect(await source.find({ count: 1 }, signal)).toHaveLength(1);
  });
});
