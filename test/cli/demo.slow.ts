import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTemporaryFolder, runCli } from './run-cli.ts';

const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');
const TINY = ['lab', 'demo', '--days', '2', '--only', 'files', '--night-steps', '1'];

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

describe('instar lab demo', { timeout: 240_000 }, () => {
  it('runs all three conditions with a night between the days, and leaves no process and nothing in the user’s home', async () => {
    const { code, out, stderr } = await startDemo([...TINY, '--json']);
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
      options: { only: 'files', days: 2, nightSteps: 1 },
    });
    expect(running()).toEqual([]);
    expect(existsSync(homeDir())).toBe(false);
    expect(readdirSync(folder.dir).sort()).toEqual(['tmp']);
    expect(readdirSync(temporary())).toEqual([]);
  });

  it('ends on Ctrl-C with 130 (not 1), the complete days so far, no process and no file left', async () => {
    let isSent = false;
    let engines = 0;
    const { code, out, stderr } = await startDemo(TINY, (heard, group) => {
      if (isSent || !heard.includes('skills · seed 1 · day 1')) return;
      isSent = true;
      engines = running().filter((line) => line.includes('engine up')).length;
      process.kill(group, 'SIGINT');
    });
    expect({ isSent, engines }).toEqual({ isSent: true, engines: 1 });
    expect(code).toBe(130);
    expect(stderr).toContain('stopped: results of the finished days are below');
    expect(out).toMatch(/^baseline +[\d.]+\u00a0% of 22$/m);
    expect(out).toContain('laboratory policy');
    expect(running()).toEqual([]);
    expect(readdirSync(temporary())).toEqual([]);
    expect(existsSync(homeDir())).toBe(false);
  });

  it('names the limit when more days are asked for', async () => {
    const { code, stderr } = await runCli(['lab', 'demo', '--days', '15'], { TMPDIR: temporary() });
    expect(code).toBe(2);
    expect(stderr).toContain('--days 1 to 14');
    expect(readdirSync(temporary())).toEqual([]);
  });
});
