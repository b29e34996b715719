import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { ask } from './support/client.ts';
import { requestBody } from './support/samples.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '..');
const dir = mkdtempSync(path.join(tmpdir(), 'instar-package-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The first line a program prints; rejects when it ends before. */
function firstLine(child: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.split('\n', 1)[0] ?? '');
    });
    child.on('exit', (code) => reject(new Error(`exit ${code} before the first line`)));
  });
}

describe('the packed package', () => {
  it('contains what it needs and nothing else, and passes publint', async () => {
    await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], { cwd: root });
    const { stdout } = await run('npx', ['publint', '--strict', root], { cwd: root });
    expect(stdout).toContain('All good');
  }, 120_000);

  it('installed with --ignore-scripts, it starts, answers without a key and stops cleanly', async () => {
    const tarball = readdirSync(dir).find((name) => name.endsWith('.tgz'));
    writeFileSync(path.join(dir, 'package.json'), '{"private":true}');
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--silent'];
    await run('npm', ['install', ...quiet, `./${tarball}`], { cwd: dir });
    const home = path.join(dir, 'home');
    const bin = path.join(dir, 'node_modules', '.bin', 'instar');
    const child = spawn(bin, ['up', '--port', '0', '--home', home], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH },
    });
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    const line = await firstLine(child);
    expect(line).toMatch(/^instar ready http:\/\/127\.0\.0\.1:\d+$/);
    const port = Number(line.split(':').at(-1));
    const answer = await ask(port, { path: '/v1/chat/completions', body: requestBody('openai-chat', false) });
    expect(answer.status).toBe(200);
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  }, 180_000);
});
