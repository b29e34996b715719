import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');
const checkout = mkdtempSync(path.join(tmpdir(), 'instar-launcher-'));
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

for (const name of [
  'instar.mjs',
  'bundle.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
])
  cpSync(path.join(root, name), path.join(checkout, name));
for (const folder of ['src/cli', 'train', 'team', 'lab', 'plugins'])
  mkdirSync(path.join(checkout, folder), { recursive: true });

const write = (text: string): void => writeFileSync(path.join(checkout, 'src/cli/main.ts'), text);
const launch = (...args: readonly string[]) =>
  spawnSync(process.execPath, [path.join(checkout, 'instar.mjs'), ...args], { encoding: 'utf8' });
const builtAt = (): number => statSync(path.join(checkout, 'dist/src/cli/main.js')).mtimeMs;

describe('the launcher of a checkout', () => {
  it('names npm ci when the dependencies are missing (not a stack trace)', () => {
    write('process.stdout.write(process.argv.slice(2).join(","));\n');
    const { status, stderr } = launch('status');
    expect([status, stderr]).toEqual([1, expect.stringContaining('run: npm ci')]);
    expect(stderr).not.toContain('at ');
  });

  it('compiles when a source has changed, and only then', () => {
    symlinkSync(path.join(root, 'node_modules'), path.join(checkout, 'node_modules'));
    expect(launch('status', '--json').stdout).toBe('status,--json');
    const first = builtAt();
    expect(launch('a').stdout).toBe('a');
    expect(builtAt()).toBe(first);
    write('process.stdout.write("changed");\n');
    expect(launch('a').stdout).toBe('changed');
  });

  it('builds the page when it has changed, and only then', () => {
    const web = path.join(checkout, 'web');
    mkdirSync(path.join(checkout, 'src/text'), { recursive: true });
    mkdirSync(web, { recursive: true });
    writeFileSync(path.join(web, 'index.html'), '<!doctype html><title>first</title>');
    writeFileSync(
      path.join(web, 'vite.config.ts'),
      "export default { build: { outDir: '../dist/web', emptyOutDir: true } };\n",
    );
    const page = path.join(checkout, 'dist/web/index.html');
    expect(launch('a').stdout).toBe('changed');
    expect(readFileSync(page, 'utf8')).toContain('first');
    const { mtimeMs } = statSync(page);
    launch('a');
    expect(statSync(page).mtimeMs).toBe(mtimeMs);
    writeFileSync(path.join(web, 'index.html'), '<!doctype html><title>second</title>');
    launch('a');
    expect(readFileSync(page, 'utf8')).toContain('second');
  });

  it('stops at sources that do not compile (it does not run the old build)', () => {
    write('const wrong: number = "text";\nprocess.stdout.write(String(wrong));\n');
    const { status, stdout, stderr } = launch('a');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('do not compile');
    expect(launch('a').status).toBe(1);
  });
});
