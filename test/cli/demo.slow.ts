import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { demoLine, demoLines, noteDemo } from '../../lab/commands/progress.ts';
import { createTemporaryFolder, runCli } from './run-cli.ts';

const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');
const TINY = ['demo', '--days', '2', '--only', 'files', '--night-steps', '1'];

let folder: ReturnType<typeof createTemporaryFolder>;
let started: ChildProcess | undefined;
beforeEach(() => {
  folder = createTemporaryFolder();
  mkdirSync(path.join(folder.dir, 'tmp'));
});
afterEach(() => {
  if (started?.exitCode === null) started.kill('SIGKILL');
  folder.remove();
});

const homeDir = () => path.join(folder.dir, 'home');
const temporary = () => path.join(folder.dir, 'tmp');

/** In a group of its own, as a terminal starts it: a signal to all of it is what Ctrl-C is. */
function startDemo(
  args: readonly string[],
  onStderr: (stderr: string, group: number) => void = () => undefined,
) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      PATH: process.env.PATH,
      HOME: folder.dir,
      INSTAR_HOME: homeDir(),
      TMPDIR: temporary(),
      INSTAR_KEY: 'k'.repeat(40),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  started = child;
  let out = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    onStderr(stderr, -(child.pid ?? 0));
  });
  return new Promise<{ readonly code: number | null; readonly out: string; readonly stderr: string }>(
    (resolve) => child.on('close', (code) => resolve({ code, out, stderr })),
  );
}

/** Processes with this folder on their command line, such as the engine, which has its own process group. */
const running = (): readonly string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(temporary()));

describe('instar demo', { timeout: 240_000 }, () => {
  it('runs all three conditions with a night between the days, and leaves no process and nothing in the user’s home', async () => {
    const page = path.join(folder.dir, 'page.html');
    const { code, out, stderr } = await startDemo([...TINY, '--json', '--html', page]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const json = JSON.parse(out);
    expect(Object.keys(json.conditions)).toEqual(['baseline', 'skills', 'full-oracle', 'full']);
    expect(json.conditions.full).toMatchObject({ label: 'full (oracle rewards)', rewards: 'oracle' });
    expect([json.seeds, json.questions]).toEqual([1, 22]);
    for (const name of ['baseline', 'skills', 'full']) {
      const { accuracy, completion, asked, graded } = json.conditions[name];
      expect([asked, graded]).toEqual([22, 22]);
      expect(accuracy).toBe(completion);
      expect(json.conditions[name]).toHaveProperty('accuracyInterval');
      expect(json.conditions[name]).toHaveProperty('completionInterval');
    }
    expect(json.nights).toHaveLength(1);
    expect(json.nights[0]).toMatchObject({ condition: 'full-oracle', day: 0, steps: 1 });
    expect(json.nights[0].pairs).toBeGreaterThan(0);
    expect(json.remarks.join(' ')).toContain('Only file tasks were asked');
    expect(json.run).toMatchObject({
      policy: 'nano',
      options: { form: 'short', only: 'files', days: 2, nightSteps: 1 },
    });
    expect(readFileSync(page, 'utf8')).toContain('<h2>Nights</h2>');
    expect(running()).toEqual([]);
    expect(existsSync(homeDir())).toBe(false);
    expect(readdirSync(folder.dir).sort()).toEqual(['page.html', 'tmp']);
    expect(readdirSync(temporary())).toEqual([]);
  });

  it('ends on Ctrl-C with 1, the complete days so far, no process left, and only the report kept', async () => {
    let isSent = false;
    let engines = 0;
    const { code, out, stderr } = await startDemo(TINY, (heard, group) => {
      if (isSent || !heard.includes('skills · day 1 of 2')) return;
      isSent = true;
      engines = running().filter((line) => line.includes('engine up')).length;
      process.kill(group, 'SIGINT');
    });
    expect({ isSent, engines }).toEqual({ isSent: true, engines: 1 });
    expect(code).toBe(1);
    expect(stderr).toContain('stopped: results of the finished days are below');
    expect(out).toMatch(/^ {2}baseline +[\d.]+\u00a0% of 22$/m);
    expect(out).toContain('laboratory policy');
    expect(running()).toEqual([]);
    const left = readdirSync(temporary());
    expect(left).toHaveLength(1);
    expect(readdirSync(path.join(temporary(), left[0] ?? ''))).toEqual(['report.html']);
    expect(existsSync(homeDir())).toBe(false);
  });

  it('names the limit when more days are asked for', async () => {
    const { code, stderr } = await runCli(['demo', '--days', '15'], { TMPDIR: temporary() });
    expect(code).toBe(2);
    expect(stderr).toContain('--days 1 to 14');
    expect(readdirSync(temporary())).toEqual([]);
  });
});

describe('progress of a demo', () => {
  const size = { days: 3, seeds: 1 };
  const conditions = ['baseline', 'skills', 'full-oracle'] as const;
  const answered = (asked: number, day: number, passed: boolean, kind: 'files' | 'choice' = 'files') => ({
    ...({ type: 'answered', asked, questions: 12 } as const),
    row: { condition: 'full-oracle', seed: 1, day, kind, passed } as const,
  });
  const night = {
    type: 'night',
    condition: 'full-oracle',
    seed: 1,
    day: 1,
    step: 2,
    steps: 5,
    pairs: 0,
  } as const;

  it('counts only tasks on files, and has a line for conditions that wait', () => {
    let progress = noteDemo(new Map(), answered(1, 0, true), 0);
    progress = noteDemo(progress, answered(2, 0, true, 'choice'), 10);
    progress = noteDemo(progress, answered(3, 1, false), 20);
    expect(demoLines(progress, conditions, size)).toEqual([
      'baseline    ░░░░░░░░░░░░░░░░░░░░ waits',
      'skills      ░░░░░░░░░░░░░░░░░░░░ waits',
      'full-oracle █████░░░░░░░░░░░░░░░ day 2 of 3 · 50.0 % of 2 tasks complete',
    ]);
  });

  it('shows the steps of a night, then its pairs, then the next day', () => {
    let progress = noteDemo(new Map(), answered(8, 1, true), 0);
    const tell = () => demoLine(progress, 'full-oracle', size);
    progress = noteDemo(progress, night, 1);
    expect(tell()).toBe('full-oracle · night after day 2: step 2 of 5 · 100.0 % of 1 task complete');
    progress = noteDemo(progress, { ...night, pairs: 41 }, 2);
    expect(tell()).toContain('night after day 2: 41 pairs compared');
    progress = noteDemo(progress, answered(9, 2, false), 3);
    expect(tell()).toContain('day 3 of 3');
    progress = noteDemo(progress, answered(12, 2, false), 61_000);
    expect(tell()).toContain('3 days in 1.0 min');
    expect(demoLine(noteDemo(new Map(), night, 0), 'full-oracle', { days: 3, seeds: 2 })).toContain(
      'seed 1 · night',
    );
  });
});
