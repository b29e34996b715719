import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { ask } from '../support/client.ts';
import { requestBody } from '../support/samples.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
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

const { files: listed }: { files: string[] } = JSON.parse(
  readFileSync(path.join(root, 'package.json'), 'utf8'),
);
/** The single files that the manifest lists. */
const FILES = listed.filter((name) => /^[^*!]+\.\w+$/.test(name));

/** A copy of what is under version control, with another checkout's build in it. */
function copyCheckout(): string {
  const to = mkdtempSync(path.join(tmpdir(), 'instar-checkout-'));
  for (const name of PACKED_FROM) cpSync(path.join(root, name), path.join(to, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(to, 'node_modules'));
  mkdirSync(path.join(to, 'dist/src/gateway'), { recursive: true });
  writeFileSync(path.join(to, 'dist/src/gateway/removed.js'), 'export {};\n');
  writeFileSync(path.join(to, 'dist/src/notes.txt'), 'left over\n');
  return to;
}
const PACKED_FROM = [
  ...[
    'src',
    'train',
    'team',
    'lab',
    'plugins',
    'web',
    'models',
    'docs',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ],
  ...[
    'tsconfig.build.json',
    'bundle.mjs',
    'README.md',
    'LICENSE',
    ...FILES.filter((name) => name !== 'sbom.json'),
  ],
];

const filesIn = (folder: string): readonly string[] =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));

describe('the packed package', () => {
  it('has a source or an importer for each built file, the bill of materials, and nothing left over by an earlier build', async () => {
    const checkout = copyCheckout();
    try {
      const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', checkout], {
        cwd: checkout,
      });
      const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
      const names: string[] = packed.files.map((file: { path: string }) => file.path);
      expect(names).toContain('dist/web/index.html');
      // Vite names the files of the page by their content.
      const built = names.filter((name) => name.startsWith('dist/') && !name.startsWith('dist/web/'));
      const code = new Map(
        built
          .filter((name) => name.endsWith('.js'))
          .map((name) => [name, readFileSync(path.join(checkout, name), 'utf8')]),
      );
      expect(code.size).toBeGreaterThan(100);
      const imported = new Set(
        [...code].flatMap(([name, text]) =>
          [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+\.js)"/g)].map(([, to = '']) =>
            path.posix.join(path.posix.dirname(name), to),
          ),
        ),
      );
      // The laboratory is in a checkout alone.
      expect([...imported].filter((name) => !code.has(name) && !name.startsWith('dist/lab/'))).toEqual([]);
      const orphans = built.filter((name) => {
        if (name.startsWith('dist/chunks/')) return !imported.has(name);
        const source = name.replace(/^dist\//, '').replace(/(\.d\.ts|\.js)$/, '.ts');
        return !/\.(js|d\.ts|json)$/.test(name) || !existsSync(path.join(checkout, source));
      });
      expect(orphans).toEqual([]);
      expect(
        names.filter((name) => /lab\/(measure|release)|\.test\.|\.map$|tsbuildinfo|^test\//.test(name)),
      ).toEqual([]);
      expect(names.filter((name) => !name.startsWith('dist/')).sort()).toEqual(
        [
          ...new Set([
            ...['LICENSE', 'README.md', 'package.json', ...FILES],
            ...filesIn('docs').filter((name) => !/^docs\/(?:page|decisions)\//.test(name)),
            ...filesIn('models'),
          ]),
        ].sort(),
      );
      const links = [
        ...readFileSync(path.join(root, 'README.md'), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g),
      ];
      const missing = links.filter(
        ([, to = '']) => !names.some((name) => name === to || name.startsWith(`${to}/`)),
      );
      expect(missing.map(([, to]) => to)).toEqual([]);
      expect([...code.values()].filter((text) => text.includes('sourceMappingURL'))).toEqual([]);
    } finally {
      rmSync(checkout, { recursive: true, force: true });
    }
  }, 300_000);

  it('contains what it needs and nothing else, and passes publint', async () => {
    await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], { cwd: root });
    const tarball = readdirSync(dir).find((name) => name.endsWith('.tgz')) ?? '';
    // Two thirds are the weights of the reader of people's words and of the embedded policy.
    expect(statSync(path.join(dir, tarball)).size).toBeLessThan(30_000_000);
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
