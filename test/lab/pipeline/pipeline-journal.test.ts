import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  loadPipelineJournal,
  openPipelineJournal,
  readPipelineJournal,
} from '../../../lab/suites/pipeline/pipeline-journal.ts';
import { finished, head, simulatePipelineJournal } from './pipeline-journals.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-pipeline-journal-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const whole = simulatePipelineJournal('journal', () => 0.3, { seeds: [1, 2], runs: 3 });
const write = (name: string): string => {
  const file = path.join(folder, name);
  const journal = openPipelineJournal(file, whole.head, undefined);
  for (const run of whole.runs) journal.run(run);
  journal.close();
  return file;
};

describe('the journal of a pipeline run', () => {
  it('returns what was written', () => {
    expect(loadPipelineJournal(write('whole.jsonl'))).toEqual(whole);
    expect(loadPipelineJournal(path.join(folder, 'nothing.jsonl'))).toBeUndefined();
  });

  it('contains exactly its first complete runs, wherever a kill cuts it', () => {
    const bytes = readFileSync(write('cut.jsonl'));
    const headEnds = bytes.indexOf('\n', 1);
    const seen = new Set<number>();
    // Random positions may miss the few at which one more run becomes complete.
    const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at, at + 1] : []));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length }), (at) => {
        const read = readPipelineJournal(bytes.subarray(0, at).toString());
        if (at < headEnds) expect(read).toBeUndefined();
        else {
          const runs = read?.runs ?? [];
          expect(runs).toEqual(whole.runs.slice(0, runs.length));
          seen.add(runs.length);
        }
      }),
      { numRuns: 400 + ends.length, examples: ends.map((at): [number] => [at]) },
    );
    expect(seen.size).toBe(whole.runs.length + 1);
  });

  it('continues after a line that was cut short without losing the next one', () => {
    const file = path.join(folder, 'goes-on.jsonl');
    const first = openPipelineJournal(file, whole.head, undefined);
    const [one, two, three] = whole.runs;
    if (one === undefined || two === undefined || three === undefined) throw new Error('too few runs');
    first.run(one);
    first.close();
    appendFileSync(file, JSON.stringify({ type: 'run', ...two }).slice(0, 400));
    const done = loadPipelineJournal(file);
    expect(done?.runs).toEqual([one]);
    const again = openPipelineJournal(file, whole.head, done);
    again.run(two);
    again.run(three);
    again.close();
    expect(loadPipelineJournal(file)?.runs).toEqual([one, two, three]);
  });

  it('writes its head if a kill left a file without one', () => {
    const file = path.join(folder, 'no-head.jsonl');
    writeFileSync(file, '{"type":"head","run":"p');
    expect(loadPipelineJournal(file)).toBeUndefined();
    openPipelineJournal(file, whole.head, undefined).close();
    expect(loadPipelineJournal(file)).toEqual({ head: whole.head, runs: [] });
  });

  it('does not count a run whose predecessor is missing, a duplicate, or a run that was started again', () => {
    const lines = (...given: readonly object[]): string =>
      given.map((line) => JSON.stringify(line)).join('\n');
    const run = (nth: number, policyMs = 0): object => ({ type: 'run', ...finished({ run: nth, policyMs }) });
    const top = { type: 'head', ...head({ seeds: [1] }) };
    const numbers = (text: string): readonly (readonly [number, number])[] =>
      readPipelineJournal(text)?.runs.map((one) => [one.run, one.policyMs]) ?? [];
    expect(numbers(lines(top, run(1), run(3)))).toEqual([[1, 0]]);
    expect(numbers(lines(top, run(1), run(1, 7), run(2)))).toEqual([
      [1, 0],
      [2, 0],
    ]);
    const begin = { type: 'begin', condition: 'baseline', seed: 1 };
    expect(numbers(lines(top, run(1), run(2), begin, run(1, 7)))).toEqual([[1, 7]]);
    expect(numbers(lines(top, run(1), { ...begin, seed: 2 }))).toEqual([[1, 0]]);
  });

  it("is undefined for another suite's journal", () => {
    expect(
      readPipelineJournal(JSON.stringify({ type: 'head', ...head(), suite: 'workdays' })),
    ).toBeUndefined();
  });
});
