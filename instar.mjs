#!/usr/bin/env node
// Runs the command line of a checkout: `node instar.mjs ARGS`. It compiles only when a source has changed since the last time.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = import.meta.dirname;
const at = (...parts) => path.join(root, ...parts);
const stampFile = at('dist', '.built');

/** Changes with the name, the size or the time of any file that is compiled. */
function fingerprint() {
  const hash = createHash('sha256');
  const add = (file) => {
    const { size, mtimeMs } = statSync(at(file));
    hash.update(`${file}\0${size}\0${mtimeMs}\n`);
  };
  for (const folder of ['src', 'nano', 'lab'])
    for (const entry of readdirSync(at(folder), { recursive: true }).sort())
      if (entry.endsWith('.ts')) add(path.join(folder, entry));
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) add(file);
  return hash.digest('hex');
}

function compile() {
  const compiler = at('node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(compiler)) {
    process.stderr.write('instar: the dependencies are not installed\n→ run: npm ci\n');
    process.exit(1);
  }
  // The answers of a command are on standard output; what the compiler prints is not among them.
  const { status } = spawnSync(process.execPath, [compiler, '-p', at('tsconfig.build.json')], {
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
  });
  if (status !== 0) {
    process.stderr.write('instar: the sources do not compile\n→ fix the errors above\n');
    process.exit(1);
  }
}

const now = fingerprint();
const built = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined;
if (built !== now) {
  compile();
  mkdirSync(path.dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, now);
}
process.argv[1] = at('dist', 'src', 'cli', 'main.js');
await import('./dist/src/cli/main.js');
