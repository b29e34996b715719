import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRotatingFile, type RotatingFileOptions, rotatedNames } from '../../src/base/rotating-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'instar-rotating-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const file = () => join(dir, 'logs', 'a.log');
const open = (options: Partial<RotatingFileOptions> = {}) => {
  const faults: string[] = [];
  const onFault = (error: Error) => void faults.push((error as NodeJS.ErrnoException).code ?? error.message);
  return { faults, ...openRotatingFile({ file: file(), maxBytes: 1000, files: 3, onFault, ...options }) };
};
const linesIn = (name: string): string[] =>
  existsSync(name) ? readFileSync(name, 'utf8').trimEnd().split('\n') : [];

describe('openRotatingFile', () => {
  it('keeps the newest lines in order, in as many private files as it may, none larger than it may be', async () => {
    const log = open();
    const lines = Array.from(
      { length: 100 },
      (_, index) => `line ${String(index).padStart(3, '0')} ${'x'.repeat(40)}`,
    );
    for (const line of lines) log.write(`${line}\n`);
    await log.close();
    const names = rotatedNames(file(), 3);
    const kept = [...names].reverse().flatMap(linesIn);
    expect(kept).toEqual(lines.slice(-kept.length));
    expect(kept.length).toBeGreaterThan(40);
    for (const name of names) {
      expect(statSync(name).size).toBeLessThanOrEqual(1000);
      expect(statSync(name).mode & 0o777).toBe(0o600);
    }
    expect(existsSync(`${file()}.3`)).toBe(false);
    expect(statSync(join(dir, 'logs')).mode & 0o777).toBe(0o700);
  });

  it('appends to the file of the process before it (does not begin a new one)', async () => {
    for (const line of ['one', 'two']) {
      const log = open();
      log.write(`${line}\n`);
      await log.close();
    }
    expect(linesIn(file())).toEqual(['one', 'two']);
  });

  it('tells a fault once, goes on, and writes the waiting lines when the disk is back (loses none of them)', async () => {
    writeFileSync(join(dir, 'logs'), 'a file where the folder should be');
    const log = open({ retryMs: 10 });
    log.write('one\n');
    await expect.poll(() => log.faults.length).toBe(1);
    log.write('two\n');
    rmSync(join(dir, 'logs'));
    await expect.poll(() => linesIn(file())).toEqual(['one', 'two']);
    await log.close();
    expect(log.faults).toHaveLength(1);
  });

  it('drops lines beyond a megabyte while the disk is full, and says how many (does not fill the memory)', async () => {
    writeFileSync(join(dir, 'logs'), '');
    const log = open({ retryMs: 10, maxBytes: 10_000_000, describeLoss: (lines) => `lost ${lines}\n` });
    const line = `${'x'.repeat(1023)}\n`;
    for (let count = 0; count < 1030; count++) log.write(line);
    await expect.poll(() => log.faults.length).toBe(1);
    rmSync(join(dir, 'logs'));
    await expect.poll(() => linesIn(file()).length).toBe(1025);
    expect(linesIn(file())[0]).toBe('lost 6');
    await log.close();
  });

  it('writes what still waits when the process exits (only a kill loses lines)', () => {
    const module = JSON.stringify(
      pathToFileURL(resolve(import.meta.dirname, '../../build/src/base/rotating-file.js')).href,
    );
    const script = `
      const { openRotatingFile } = await import(${module});
      const log = openRotatingFile({ file: ${JSON.stringify(file())}, maxBytes: 1e6, files: 2, onFault: console.error });
      log.write('one\\n');
      if (process.argv[1]) await new Promise((done) => setTimeout(done, 50));
      for (let n = 0; n < 3; n++) log.write('more ' + n + '\\n');
      process.exit(0);`;
    for (const later of [[], ['later']])
      spawnSync(process.execPath, ['--input-type=module', '-e', script, ...later], { stdio: 'inherit' });
    const run = ['one', 'more 0', 'more 1', 'more 2'];
    expect(linesIn(file())).toEqual([...run, ...run]);
  });
});
