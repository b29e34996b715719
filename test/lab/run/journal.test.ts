import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadBenchJournal, openBenchJournal, readBenchJournal } from '../../../lab/suites/bench-journal.ts';
import type { QuestionRecord, RunHead } from '../../../lab/suites/run-records.ts';

const HEAD: RunHead = {
  run: 'r',
  suite: 'workdays',
  options: {},
  policy: 'scripted',
  conditions: ['baseline', 'skills'],
  seeds: [1],
  questions: 2,
  rules: [],
  startedAt: '2026-11-15T00:00:00Z',
  version: '0',
  notes: [],
};

const row = (day: number, question: string, score: number): QuestionRecord => ({
  condition: 'skills',
  seed: 1,
  day,
  dayId: `day0${day + 1}`,
  question,
  kind: 'files',
  score,
  passed: score === 1,
  rules: [],
  broken: [],
  lessons: [],
  generation: 0,
  taught: [],
  steps: 1,
  inputTokens: 1,
  outputTokens: 1,
  usd: 0,
  ms: 1,
  overheadMs: 1,
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-journal-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the journal of a run', () => {
  it('counts only complete days', () => {
    const file = path.join(folder, 'a.jsonl');
    const journal = openBenchJournal(file, HEAD);
    journal.row(row(0, 'q1', 1));
    journal.endDay('skills', 1, 0);
    journal.row(row(1, 'q2', 0));
    journal.close();
    const read = loadBenchJournal(file);
    expect(read?.rows.map(({ question }) => question)).toEqual(['q1']);
    expect(read?.lastDay('skills', 1)).toBe(0);
    expect(read?.lastDay('baseline', 1)).toBeUndefined();
  });

  it('keeps its rows and its beginning when arms and seeds are added', () => {
    const file = path.join(folder, 'more.jsonl');
    const first = openBenchJournal(file, HEAD);
    first.row(row(0, 'q1', 1));
    first.endDay('skills', 1, 0);
    first.close();
    const added = { conditions: ['baseline', 'skills', 'notes'], seeds: [1, 2] } as const;
    openBenchJournal(file, { ...HEAD, ...added, startedAt: '2026-11-16T00:00:00Z' }).close();
    const read = loadBenchJournal(file);
    expect(read?.head).toEqual({ ...HEAD, ...added });
    expect(read?.rows).toHaveLength(1);
    expect(read?.lastDay('skills', 1)).toBe(0);
  });

  it('continues after a line that a kill cut short, and takes the last version of a day that was started twice', () => {
    const file = path.join(folder, 'b.jsonl');
    const first = openBenchJournal(file, HEAD);
    first.row(row(0, 'q1', 0));
    first.close();
    appendFileSync(file, '{"type":"row","condition":"skills","se');
    const second = openBenchJournal(file, HEAD);
    second.row(row(0, 'q1', 1));
    second.row(row(0, 'q2', 0));
    second.endDay('skills', 1, 0);
    second.close();
    const read = loadBenchJournal(file);
    expect(read?.head).toEqual(HEAD);
    expect(read?.rows.map(({ question, score }) => [question, score])).toEqual([
      ['q1', 1],
      ['q2', 0],
    ]);
  });

  it('is the same up to its last complete day wherever a kill cuts it', () => {
    const file = path.join(folder, 'c.jsonl');
    const journal = openBenchJournal(file, HEAD);
    for (let day = 0; day < 4; day++) {
      journal.row(row(day, `q${day}`, day % 2));
      journal.lesson({ condition: 'skills', seed: 1, day, id: 'l', name: 'n', state: 'trial', teaches: [] });
      journal.endDay('skills', 1, day);
    }
    journal.close();
    const whole = readFileSync(file, 'utf8');
    const all = readBenchJournal(whole);
    fc.assert(
      fc.property(fc.nat(whole.length), (length) => {
        const cut = readBenchJournal(whole.slice(0, length));
        if (cut === undefined) return length < whole.indexOf('\n');
        const days = (cut.lastDay('skills', 1) ?? -1) + 1;
        expect(cut.rows).toEqual(all?.rows.slice(0, days));
        expect(cut.lessons).toEqual(all?.lessons.slice(0, days));
        return true;
      }),
      { numRuns: 300 },
    );
    expect(all?.rows).toHaveLength(4);
  });

  it('is undefined without a head', () => {
    expect(readBenchJournal('')).toBeUndefined();
    expect(loadBenchJournal(path.join(folder, 'none.jsonl'))).toBeUndefined();
  });
});
