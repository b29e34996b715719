#!/usr/bin/env node
/*
 * The second half of a build: `build/` has a file for each source, which is what tests and the laboratory import; `dist/` has
 * the same code in few files, which is what runs and what is shipped. A file that is loaded by its name (a command, the
 * library, a thread, a plugin) has in `dist/` the place that it has in `build/`, since clients and homes keep such names.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';

const root = import.meta.dirname;
const [build, dist] = [path.join(root, 'build'), path.join(root, 'dist')];
/** What lies in `dist/` and is not written here. */
const OTHERS = new Set(['web', 'site', '.built', '.page-built', '.bundled']);

const compiled = readdirSync(build, { recursive: true })
  .filter(
    (name) => /(?:\.js|\.d\.ts|plugins?.*\.json)$/.test(name) && !/^lab\W(?:measure|release)/.test(name),
  )
  .sort();

/** Changes with the name, the size or the time of any file that is read here. */
function fingerprint() {
  const hash = createHash('sha256');
  const manifests = ['bundle.mjs', 'package-lock.json'].map((name) => path.join(root, name));
  for (const file of [...compiled.map((name) => path.join(build, name)), ...manifests]) {
    const { size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
    hash.update(`${file}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

async function bundle() {
  const modules = new Map(
    compiled
      .filter((name) => name.endsWith('.js'))
      .map((name) => [path.join(build, name), readFileSync(path.join(build, name), 'utf8')]),
  );
  const entries = findEntries(modules);
  const bundled = await rolldown({
    input: Object.fromEntries([...entries].map((file) => [inBuild(file).slice(0, -'.js'.length), file])),
    platform: 'node',
    checks: { ineffectiveDynamicImport: false },
    external: (id) => !/^(?:[./]|[A-Za-z]:\\|zod)/.test(id),
    plugins: [keepPlaces],
  });
  const { output } = await bundled.write({
    dir: dist,
    comments: { annotation: false, jsdoc: false },
    entryFileNames: '[name].js',
    chunkFileNames: ({ moduleIds }) =>
      moduleIds.some((id) => inBuild(id).startsWith('lab/'))
        ? 'lab/commands/[name]-[hash].js'
        : 'chunks/[name]-[hash].js',
  });
  await bundled.close();
  return output.map(({ fileName }) => fileName);
}

/** With slashes, as it is named in an import. */
function inBuild(file) {
  return path.relative(build, file).replaceAll(path.sep, '/');
}

/** What is loaded by its name: the command, the library, what `workerModule` names, and what runs inside other programs. */
function findEntries(modules) {
  const entries = new Set(
    ['src/cli/main.js', 'src/index.js', 'plugins/hooks/main.js'].map((name) => path.join(build, name)),
  );
  for (const [file, text] of modules) {
    if (/^plugins\/[^/]+\/index\.js$/.test(inBuild(file))) entries.add(file);
    for (const [, name] of text.matchAll(/\bworkerModule\('(\.[^']+)\.ts'/g))
      entries.add(path.join(path.dirname(file), `${name}.js`));
  }
  return new Set([...entries].filter((file) => modules.has(file)));
}

/**
 * Each module keeps the place that it was compiled to as its `import.meta.url`, below `dist/`. Characters beyond Latin-1 are
 * escaped: one of them would make V8 keep the whole file with two bytes a character, in every thread.
 */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    const place = JSON.stringify(inBuild(id));
    return code.includes('import.meta.url')
      ? code.replaceAll('import.meta.url', `modulePlace$(${place})`)
      : null;
  },
  renderChunk(code, { fileName }) {
    const up = path.posix.relative(path.posix.dirname(fileName), '.') || '.';
    if (/\\[^\0-\xff]/.test(code)) this.error(`${fileName}: a character that is escaped needs no backslash`);
    return code
      .replace(
        /\bmodulePlace\$\("([^"]+)"\)/g,
        (_, place) => `new URL("${up}/${place}", import.meta.url).href`,
      )
      .replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  },
};

/** The types of the library, and those that they name. */
function copyTypes() {
  const copied = new Set();
  const copy = (name) => {
    const from = path.join(build, name);
    if (copied.has(name) || !existsSync(from)) return;
    copied.add(name);
    copyInto(name);
    for (const [, to] of readFileSync(from, 'utf8').matchAll(/['"](\.[^'"]+)\.[jt]s['"]/g))
      copy(path.posix.join(path.posix.dirname(name), `${to}.d.ts`));
  };
  copy('src/index.d.ts');
  return copied;
}

/** Of plugins: other programs read them. */
function copyManifests() {
  const manifests = compiled
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replaceAll(path.sep, '/'));
  for (const name of manifests) copyInto(name);
  return manifests;
}

function copyInto(name) {
  mkdirSync(path.dirname(path.join(dist, name)), { recursive: true });
  cpSync(path.join(build, name), path.join(dist, name));
}

/** What an earlier build left. */
function removeOthers(written) {
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(dist, file).replaceAll(path.sep, '/');
    if (entry.isFile() && !OTHERS.has(name.split('/')[0]) && !written.has(name)) rmSync(file);
  }
}

const stamp = fingerprint();
const stampFile = path.join(dist, '.bundled');
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
  rmSync(stampFile, { force: true });
  const written = new Set([...(await bundle()), ...copyTypes(), ...copyManifests()]);
  removeOthers(written);
  writeFileSync(stampFile, stamp);
}
