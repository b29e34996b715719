#!/usr/bin/env node
// Runs the command line of a checkout: `node instar.mjs ARGS`. It compiles only when a source has changed since the last time.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = import.meta.dirname;
const at = (...parts) => path.join(root, ...parts);

/** Changes with the name, the size or the time of any file that is compiled. */
function fingerprint(folders, kinds, files) {
  const hash = createHash('sha256');
  const add = (file) => {
    const { size, mtimeMs } = statSync(at(file));
    hash.update(`${file}\0${size}\0${mtimeMs}\n`);
  };
  for (const folder of folders)
    for (const entry of readdirSync(at(folder), { recursive: true }).sort())
      if (kinds.test(entry) && !entry.startsWith('node_modules')) add(path.join(folder, entry));
  for (const file of files) add(file);
  return hash.digest('hex');
}

function compile() {
  const compiler = at('node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(compiler)) {
    process.stderr.write('instar: the dependencies are not installed\n→ run: npm ci\n');
    process.exit(1);
  }
  // The answers of a command are on standard output; what the compiler prints is not among them.
  const output = ['ignore', process.stderr.fd, process.stderr.fd];
  const { status } = spawnSync(process.execPath, [compiler, '-p', at('tsconfig.build.json')], {
    stdio: output,
  });
  if (status !== 0) {
    process.stderr.write('instar: the sources do not compile\n→ fix the errors above\n');
    process.exit(1);
  }
  if (spawnSync(process.execPath, [at('bundle.mjs')], { stdio: output }).status !== 0) {
    process.stderr.write(
      'instar: the compiled sources could not be bundled\n→ run: npm ci && npm run build\n',
    );
    process.exit(1);
  }
}

/** Without the page the commands work all the same: a fault of it is told, and stops nothing. */
function buildPage() {
  const builder = at('node_modules', 'vite', 'bin', 'vite.js');
  const { status } = spawnSync(process.execPath, [builder, 'build', at('web'), '--logLevel', 'warn'], {
    cwd: at('web'),
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
  });
  if (status !== 0)
    process.stderr.write('instar: the page could not be built\n→ run: npm ci && npm run build\n');
  return status === 0;
}

/** Builds when the sources are not those of the last time. */
function whenChanged(stamp, now, build) {
  const file = at('dist', stamp);
  if (existsSync(file) && readFileSync(file, 'utf8') === now) return;
  if (build() === false) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, now);
}

const MANIFESTS = ['package.json', 'package-lock.json', 'tsconfig.json'];
whenChanged(
  '.built',
  fingerprint(['src', 'train', 'team', 'lab', 'plugins'], /\.ts$|plugins?.*\.json$/, [
    ...MANIFESTS,
    'tsconfig.build.json',
    'bundle.mjs',
  ]),
  compile,
);
if (existsSync(at('web', 'index.html')))
  whenChanged(
    '.page-built',
    fingerprint(['web', 'src/text'], /\.(?:tsx?|css|html|svg|json)$/, MANIFESTS),
    buildPage,
  );
process.argv[1] = at('dist', 'src', 'cli', 'main.js');
await import('./dist/src/cli/main.js');
