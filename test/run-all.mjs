/*
 * `npm test`: builds, then checks style, types, dead exports and the files that a request runs beside the tests. The failures are printed last, so that
 * the end of a log has them; before the counts, which are the very last line, stand the slowest files. Arguments go to vitest.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const VITEST = path.join(ROOT, 'node_modules/vitest/vitest.mjs');

const children = new Set();
// A terminal sends SIGINT to the children itself: they end, and this process after them.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => {
  for (const child of children) child.kill('SIGTERM');
});

/** Warnings of npm about its own settings say nothing about the check. */
const firstLine = (text) =>
  text.split('\n').find((line) => line.trim() !== '' && !line.startsWith('npm warn'));

const secondsSince = (started) => Math.round((performance.now() - started) / 1000);
const say = (text) => process.stdout.write(`${text}\n`);

/** Runs a program. With `isHeld`, what it prints is printed in one piece when it has ended. */
function run(command, args, { isHeld = false, env = process.env } = {}) {
  return new Promise((resolve) => {
    const output = isHeld ? 'pipe' : 'inherit';
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', output, output] });
    children.add(child);
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        printed += chunk;
      });
    const end = (isOk, why) => {
      children.delete(child);
      process.stdout.write(printed);
      resolve({ isOk, why });
    };
    child.on('error', (error) => end(false, error.message));
    child.on('close', (code, signal) => end(code === 0, firstLine(printed) ?? signal ?? `exit code ${code}`));
  });
}

const failure = (where, title, why) => ({ passed: 0, failed: [{ where, title, why }], skipped: 0 });

/** A script of package.json that either passes or fails: it counts as one test. */
async function check(script) {
  const started = performance.now();
  const { isOk, why } = await run('npm', ['run', '-s', script], { isHeld: true });
  say(`npm run ${script}: ${isOk ? 'passed' : 'FAILED'} (${secondsSince(started)} s)`);
  return isOk ? { passed: 1, failed: [], skipped: 0 } : failure(`npm run ${script}`, 'has failed', why);
}

/** One after the other: two cores are busy with the tests already. */
async function checkAll(scripts) {
  const results = [];
  for (const script of scripts) results.push(await check(script));
  return results;
}

async function runVitest() {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-tests-'));
  try {
    const file = path.join(folder, 'results.json');
    const env = { ...process.env, TEST_RESULTS: file };
    const ended = await run(process.execPath, [VITEST, 'run', ...process.argv.slice(2)], { env });
    const results = readResults(file, ended.why);
    if (results.passed + results.failed.length === 0) return failure('vitest', 'ran no test', ended.why);
    if (!ended.isOk && results.failed.length === 0)
      results.failed.push({ where: 'vitest', title: 'has failed', why: ended.why });
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResults(file, why) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // It ended before it could write them.
    return failure('vitest', 'ended without results', why);
  }
}

const started = performance.now();
const built = await check('build');
const rest =
  built.failed.length > 0
    ? []
    : (await Promise.all([checkAll(['lint', 'typecheck', 'deadcode', 'check:walks']), runVitest()])).flat();
const all = [built, ...rest];
const failed = all.flatMap((one) => one.failed);
const sum = (what) => all.reduce((total, one) => total + one[what], 0);

if (failed.length > 0)
  say(`\nFailed:\n${failed.map(({ where, title, why }) => `  ${where}: ${title}\n    ${why}`).join('\n')}`);
const slowest = all.flatMap((one) => one.slowest ?? []);
if (slowest.length > 0)
  say(`\nSlowest: ${slowest.map(({ where, seconds }) => `${where} ${seconds.toFixed(1)} s`).join(', ')}`);
say(
  `\n${sum('passed')} passed, ${failed.length} failed, ${sum('skipped')} skipped in ${secondsSince(started)} s`,
);
process.exitCode = failed.length > 0 ? 1 : 0;
