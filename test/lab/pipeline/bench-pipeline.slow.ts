import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FinishedRun, loadPipelineJournal } from '../../../lab/suites/pipeline/pipeline-journal.ts';
import { openBenchCli } from '../bench-cli.ts';

const { home, bench } = openBenchCli();
const fileOf = (run: string): string => path.join(home, 'bench', run, 'journal.jsonl');
const runsOf = (run: string): readonly FinishedRun[] => loadPipelineJournal(fileOf(run))?.runs ?? [];

const SMALL = ['run', 'pipeline', '--seeds', '1', '--runs', '2'];
const NULL = [
  'run',
  'pipeline',
  '--seeds',
  '1',
  '--runs',
  '1',
  '--policy',
  'null',
  '--condition',
  'baseline',
];

describe('instar lab bench run pipeline', { timeout: 900_000 }, () => {
  it('keeps the result and the lessons of every run, and renders the report from its journal alone', async () => {
    const own = await bench([...SMALL, '--run', 'whole', '--json']);
    expect(own.code).toBe(0);
    const runs = runsOf('whole');
    expect(runs.map(({ condition, run }) => `${condition} ${run}`)).toEqual([
      'baseline 1',
      'baseline 2',
      'skills 1',
      'skills 2',
    ]);
    expect(runs[2]?.lessons.filter(({ teaches }) => teaches.length > 0).length).toBeGreaterThan(2);
    expect(runs[3]?.stages.filter(({ lessons }) => lessons.length > 0).length).toBeGreaterThan(5);
    // The baseline's lessons are in no prompt.
    expect(runs[1]?.stages.flatMap(({ lessons }) => lessons)).toEqual([]);
    // Both conditions get the same draws until the first lesson.
    const untaught = runs[2]?.stages.findIndex(({ lessons }) => lessons.length > 0) ?? 0;
    expect(untaught).toBeGreaterThan(2);
    const first = (at: number) =>
      runs[at]?.stages.slice(0, untaught).map(({ broken, refines }) => [broken, refines]);
    expect(first(2)).toEqual(first(0));

    mkdirSync(path.join(home, 'bench', 'copied'), { recursive: true });
    copyFileSync(fileOf('whole'), fileOf('copied'));
    const again = await bench(['report', 'copied', '--json']);
    expect(again.code).toBe(0);
    expect(again.stdout).toBe(own.stdout);
    expect(readFileSync(path.join(home, 'bench', 'whole', 'report.md'), 'utf8')).toContain('### Conventions');
    const table = await bench(['report', 'whole']);
    expect(table.stdout).toContain('cannot say');
    expect(table.stdout).toContain('robustness');
    rmSync(path.join(home, 'bench', 'copied'), { recursive: true });
  });

  it('gives the same run again for the same seed: answers, lessons, what was shown and what it cost', async () => {
    expect((await bench([...SMALL, '--run', 'twin'])).code).toBe(0);
    /** Names for ids, which are new in every run; without durations. */
    const comparable = (run: string) =>
      runsOf(run).map(({ policyMs: _, lessons, stages, ...rest }) => {
        const names = new Map(lessons.map(({ id, name }) => [id, name]));
        return {
          ...rest,
          lessons: lessons.map(({ id: __, ...lesson }) => lesson),
          stages: stages.map(({ ms: ___, lessons: shown, ...stage }) => ({
            ...stage,
            shown: shown.map((id) => names.get(id) ?? `unknown ${id}`),
          })),
        };
      });
    const twin = comparable('twin');
    expect(twin).toEqual(comparable('whole'));
    const shown = twin.flatMap(({ stages }) => stages.flatMap((stage) => stage.shown));
    expect(shown.length).toBeGreaterThan(50);
    expect(shown.filter((name) => name.startsWith('unknown'))).toEqual([]);
  });

  it('continues after kill -9 with the interrupted run, after a cut line, with all lessons', async () => {
    const killed = await bench([...SMALL, '--run', 'killed'], (line) =>
      line.includes('skills · seed 1 · run 2 of 2'),
    );
    expect(killed.code).toBeNull();
    const before = runsOf('killed');
    expect(before).toHaveLength(3);
    appendFileSync(fileOf('killed'), '{"type":"run","condition":"skills","seed":1,"run":2,"stages":[{"sta');
    expect((await bench(['list'])).stdout).toMatch(
      /killed +pipeline +scripted +0 of 1 seed: continue with --run killed/,
    );
    const again = await bench([...SMALL, '--run', 'killed']);
    expect(again.code).toBe(0);
    expect(again.stderr).not.toContain('run 1 of 2');
    const after = runsOf('killed');
    expect(after).toHaveLength(4);
    expect(after.slice(0, 3)).toEqual(before);
    // A lesson that is learned again has a new id.
    const known = before[2]?.lessons.map(({ id }) => id) ?? [];
    expect(known.length).toBeGreaterThan(2);
    expect(after[3]?.lessons.map(({ id }) => id)).toEqual(expect.arrayContaining(known));
    const shown = new Set(after[3]?.stages.flatMap(({ lessons }) => lessons));
    expect(known.filter((id) => shown.has(id)).length).toBeGreaterThan(2);
    expect((await bench(['list'])).stdout).toMatch(/killed +pipeline +scripted +1 seed\n/);
  });

  it('refuses to continue with other options, and to continue a run of another suite', async () => {
    const rows = [
      [...SMALL, '--run', 'whole', '--failures', '5'],
      [...SMALL, '--run', 'whole', '--obey', '0.5'],
      ['run', 'pipeline', '--seeds', '1', '--runs', '3', '--run', 'whole'],
      ['run', 'workdays', '--seeds', '1', '--run', 'whole'],
    ];
    for (const args of rows) {
      const { code, stderr } = await bench(args);
      expect(code, args.join(' ')).toBe(2);
      expect(stderr).toContain('started with other options');
      expect(stderr).toContain('--run');
    }
    expect(runsOf('whole')).toHaveLength(4);
  });

  it('gives each run a new name, and scores 0 without answers', async () => {
    const first = await bench([...NULL, '--json']);
    const second = await bench([...NULL, '--json']);
    const [one, two] = [JSON.parse(first.stdout), JSON.parse(second.stdout)];
    expect([one.run.run, two.run.run]).toEqual(['pipeline-1', 'pipeline-2']);
    expect(one.conditions.baseline).toMatchObject({ accuracy: 0, completion: 0, robustness: 0 });
    expect(one.questions).toBe(19);
    const list = JSON.parse((await bench(['list', '--json'])).stdout);
    expect(list.runs.map(({ run }: { run: string }) => run)).toContain('pipeline-2');
  });

  it('runs with the shipped policy, which completes nothing here and ends nothing either', async () => {
    const nano = await bench([...NULL.slice(0, -4), '--policy', 'nano', '--condition', 'baseline', '--json']);
    expect(nano.code, nano.stderr).toBe(0);
    expect(JSON.parse(nano.stdout).conditions.baseline).toMatchObject({ finished: 1 });
  });

  it('refuses to train weights (not leaving the condition out)', async () => {
    const alone = await bench([...SMALL, '--condition', 'full']);
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain('trains no weights');
    const beside = await bench([...NULL.slice(0, -1), 'baseline,full', '--json']);
    expect(beside.code).toBe(2);
    expect(beside.stdout).toContain('trains no weights');
  });
});
