import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createEngineCounts,
  describeEngines,
  findEmptyCount,
  findOtherEngine,
} from '../../../lab/measure/measured.ts';
import { MINILM } from '../../../src/embed/minilm-embed.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-measured-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A bench as it is built; its caches are below the folder. */
function bench(name: string, ...args: readonly string[]) {
  const run = path.join(ROOT, 'build/lab/measure', name, 'run.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [run, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function fileOf(name: string, ...rows: readonly object[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  return file;
}

describe('what a bench may print', () => {
  it('is nothing where another engine answered, and the sentence names it', () => {
    const counts = createEngineCounts();
    counts.add(MINILM, 3);
    counts.add('none');
    expect(findOtherEngine(MINILM, counts)).toBeUndefined();
    counts.add('ngram/512', 77);
    expect(findOtherEngine(MINILM, counts)).toBe(
      `77 of 81 questions were answered by ngram/512, not by ${MINILM}: the numbers would be of another engine.`,
    );
    expect(describeEngines(Object.fromEntries(counts.byEngine))).toContain('ngram/512 (77)');
  });

  it.each([0, Number.NaN])('is nothing where %d things were counted', (count) => {
    expect(findEmptyCount('turn in a.jsonl', count)).toBe(
      'There is no turn in a.jsonl: a share of nothing is no result.',
    );
    expect(findEmptyCount('turn in a.jsonl', 1)).toBeUndefined();
  });
});

describe('a bench over an empty set', () => {
  it.each([
    ['signals', ['--turns']],
    ['signals', ['--words', '--set']],
    ['memory', ['--set']],
    ['corrections', ['--set']],
    ['corrections/retold', ['--set']],
  ])('%s %s ends with 1 and says what was empty (not with 0 and a table of dashes)', (name, given) => {
    const { status, stdout, stderr } = bench(name, ...given, fileOf('empty.jsonl'), '--json');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^There is no .*empty\.jsonl: a share of nothing is no result\.$/m);
  });
});

describe('bench:recall', () => {
  const lesson = (id: string, description: string, content: string) => ({
    id,
    name: id,
    description,
    content,
  });
  it('finds the same with the vectors of all lessons on disk as without, by the sentence model', () => {
    const file = fileOf(
      'pairs.jsonl',
      {
        lessons: [
          lesson('pods', 'When a Kubernetes pod is in CrashLoopBackOff.', 'Read the previous logs first.'),
          lesson('invoices', 'When an invoice is written.', 'Number invoices without gaps.'),
          lesson('index', 'When an index is added in Postgres.', 'Create it concurrently.'),
        ],
      },
      { query: 'our container restarts over and over in the cluster', right: ['pods'], kind: 'paraphrase' },
      { query: 'bill the customer for October', right: ['invoices'], kind: 'paraphrase' },
    );
    const [cold, warm] = [1, 2].map(() => bench('recall', '--pairs', file, '--json'));
    expect(cold).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(cold?.stdout ?? '')).toMatchObject([{ engines: { [MINILM]: 2 } }]);
    expect(warm).toEqual(cold);
  });
});
